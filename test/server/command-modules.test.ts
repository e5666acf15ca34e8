import { describe, expect, it } from 'vitest'
import { commandModules, modulesFor } from '../../packages/server/src/commands/command-modules.ts'
import { version } from '../../packages/server/src/version.ts'
import { printed } from './printed.ts'

const all = commandModules.flatMap(({ names }) => names)

describe('the commands that a command line loads', () => {
  it.each(all)('have %s in the module that names it', async (name) => {
    expect((await printed(name, '--help')).out).toMatch(new RegExp(`^Usage: grantry ${name} `, 'u'))
  })

  it('are all that the help lists', async () => {
    const { out } = await printed('--help')
    const listed = [...out.matchAll(/^ {2}([a-z][a-z-]*)/gmu)].map(([, name]) => name)
    expect(listed).toEqual([...all, 'help'])
  })

  it.each([
    ['a command', ['clients', 'list'], ['clients']],
    ['the help of a command', ['keys', '--help'], ['keys']],
    ['a command of a tenant', ['--tenant', 'acme', 'users', 'list'], ['users']],
    ['a command of a tenant', ['--tenant=acme', 'users', 'list'], ['users']],
    ['a tenant with the name of a command', ['--tenant', 'keys', 'users', 'list'], ['users']],
    ['a command after an unknown option', ['--verbose', 'serve'], ['serve']],
    ['a command that shares its module', ['apply', 'file.json'], ['plan', 'apply', 'export', 'import']],
    ['no command', [], all],
    ['the help', ['--help'], all],
    ['the help of a command', ['help', 'keys'], all],
    ['an option without a command', ['--tenant'], all],
    ['the version of a mistyped command', ['--version', 'client'], all],
    ['a mistyped command', ['client', 'list'], all],
    ['the completion, which names all commands', ['completion', 'bash'], all],
  ])('are those of %s: %j', (_, commandLine, names) => {
    expect(modulesFor(commandLine).flatMap((module) => module.names)).toEqual(names)
  })

  it.each(['--version', '-V'])('are none for %s', async (option) => {
    expect(await printed(option)).toMatchObject({ code: 0, out: `${version}\n` })
  })

  it('suggests a command for a mistyped one', async () => {
    expect((await printed('client', 'list')).err).toContain('Did you mean clients?')
  })
})
