// `npm create grantry`: what it writes, and what it refuses.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { create, emptyDirectory } from './created.ts'

const read = (directory: string, file: string): string => readFileSync(join(directory, file), 'utf8')
const appFiles = [
  ...['.env', '.gitignore', 'client.ts', 'grantry.ts', 'package.json', 'server.ts', 'sign-in.test.ts', 'tsconfig.json'],
]

describe('without a terminal', () => {
  test('writes an application with the defaults, and names one next command', async () => {
    const directory = emptyDirectory()
    const { code, out, err } = await create([directory, '--no-start'])
    expect([code, err]).toEqual([0, ''])
    expect(readdirSync(directory).sort()).toEqual(appFiles)
    expect(out.match(/^Next: /gmu)).toHaveLength(1)
    expect(read(directory, 'grantry.ts')).toContain('storage: more.storage ?? filesystemDriver(')
  })

  test('keeps secrets in .env, which only this user can read and git ignores', async () => {
    const directory = emptyDirectory()
    await create([directory, '--no-start'])
    const secrets = [...read(directory, '.env').matchAll(/^\w*(?:SECRET|PASSWORD)=(.+)$/gmu)].map(([, value]) => value)
    expect(secrets).toHaveLength(3)
    const others = appFiles.filter((file) => file !== '.env').map((file) => read(directory, file))
    for (const secret of secrets) expect(others.join()).not.toContain(secret)
    expect(statSync(join(directory, '.env')).mode & 0o777).toBe(0o600)
    expect(read(directory, '.gitignore').split('\n')).toContain('.env')
  })

  test('takes the packages from a folder', async () => {
    const directory = emptyDirectory()
    await create([directory, '--no-start', '--packed', join(directory, '../packed')])
    expect(JSON.parse(read(directory, 'package.json')).dependencies['@grantry/core']).toBe(
      'file:../packed/grantry-core-0.1.0.tgz',
    )
  })

  test.each([
    [['--storage', 'mysql'], '--storage does not accept "mysql"; it accepts files, memory, sqlite, postgresql, redis'],
    [['--what', 'App'], '--what does not accept "App"'],
    [['--colour', 'red'], "Unknown option '--colour'"],
    [['more'], 'one directory is enough'],
  ])('refuses %j with a sentence, and writes nothing', async (parameters, sentence) => {
    const directory = emptyDirectory()
    const { code, err } = await create([directory, '--no-start', ...parameters])
    expect([code, err]).toEqual([1, expect.stringContaining(sentence)])
    expect(readdirSync(directory)).toEqual([])
  })

  test('changes no existing file', async () => {
    const directory = emptyDirectory()
    writeFileSync(join(directory, 'server.ts'), 'mine')
    const { code, err } = await create([directory, '--no-start'])
    expect([code, err]).toEqual([1, expect.stringContaining('already has server.ts, and nothing was changed')])
    expect(readdirSync(directory)).toEqual(['server.ts'])
    expect(read(directory, 'server.ts')).toBe('mine')
  })

  test('leaves an existing .gitignore, and names the lines that it lacks', async () => {
    const directory = emptyDirectory()
    writeFileSync(join(directory, '.gitignore'), 'node_modules/\n')
    const { code, out } = await create([directory, '--no-start'])
    expect(code).toBe(0)
    expect(out).toContain('Add these lines to the existing .gitignore:\n  .env\n  data/\n')
    expect(read(directory, '.gitignore')).toBe('node_modules/\n')
  })

  test('prints all options with their values', async () => {
    const { out } = await create(['--help'])
    for (const option of ['--what app', '--where node', '--users demo', '--pages ready', '--storage files|memory|']) {
      expect(out).toContain(option)
    }
  })
})

describe('in a terminal', () => {
  test('asks the questions, and again after an unknown answer', async () => {
    const directory = emptyDirectory()
    const { code, out } = await create([directory, '--no-start', '--what', 'app'], '\n1\n\nmysql\nredis\n')
    expect(code).toBe(0)
    expect(out).not.toContain('What do you build?')
    expect(out.match(/Where are codes/gu)).toHaveLength(2)
    expect(read(directory, 'grantry.ts')).toContain('redisDriver(')
    expect(read(directory, '.env')).toContain('REDIS_URL=redis://')
  })

  test('asks nothing with --yes', async () => {
    const directory = emptyDirectory()
    const { out } = await create([directory, '--no-start', '--yes'], '')
    expect(out).not.toContain('?')
  })

  test('writes nothing when the user cancels', async () => {
    const directory = emptyDirectory()
    const { code, err } = await create([directory, '--no-start'], '1\n')
    expect([code, err]).toEqual([1, 'create-grantry: cancelled; no file was written\n'])
    expect(existsSync(join(directory, 'package.json'))).toBe(false)
  })
})
