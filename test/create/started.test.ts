// A sample of the projects: a user signs in in each, and each starts, with the built packages.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startOnce } from '../../packages/create-grantry/src/index.ts'
import { missingForExamples, missingRuntime, searchPath } from '../examples/example-folders.ts'
import { describeWith } from '../support/describe-with.ts'
import { create, emptyDirectory, linkPackages } from './created.ts'

const samples = [
  ['--where', 'node', '--pages', 'mine', '--storage', 'memory'],
  ['--where', 'express', '--users', 'provider', '--storage', 'memory'],
  ['--where', 'hono', '--what', 'mcp', '--storage', 'sqlite'],
  ['--where', 'bun', '--pages', 'ready', '--storage', 'sqlite'],
  ['--where', 'deno', '--users', 'demo', '--storage', 'files'],
]

const missing = missingForExamples() ?? missingRuntime('bun \ndeno ')

/** Writes a project with what it needs. */
async function setUp(answers: readonly string[]) {
  vi.stubEnv('PATH', searchPath)
  // That of Vitest concerns its own programs.
  vi.stubEnv('NODE_OPTIONS', undefined)
  onTestFinished(() => void vi.unstubAllEnvs())
  const directory = emptyDirectory()
  expect(await create([directory, '--no-start', '--yes', ...answers])).toMatchObject({ code: 0, err: '' })
  const { scripts, dependencies } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  linkPackages(directory, Object.keys(dependencies))
  const run = (script: string, ...more: readonly string[]): string => {
    const [program = '', ...parameters] = scripts[script].split(' ')
    return execFileSync(program, [...parameters, ...more], { cwd: directory, stdio: 'pipe', encoding: 'utf8' })
  }
  return { directory, scripts, run }
}

describeWith(missing, 'the project of', () => {
  test.each(samples)('%s %s %s %s %s %s signs a user in, and starts', async (...answers) => {
    const { directory, scripts, run } = await setUp(answers)
    run('test')
    // The other provider is not there.
    if (!answers.includes('provider')) await startOnce(directory, scripts.start)
  })

  test('users in a new table signs a user in, adds users, and starts', async () => {
    const { directory, scripts, run } = await setUp(['--users', 'new'])
    run('test')
    await expect(startOnce(directory, scripts.start)).rejects.toThrow('the project does not start')
    const database = new Database(join(directory, 'users.db'))
    database.exec(readFileSync(join(directory, 'users.sql'), 'utf8'))
    database.close()
    expect(run('add-user', 'alice')).toMatch(/^The password of alice is \S{20}\n$/u)
    expect(run('add-user', 'Alice')).toBe('There is a user Alice already\n')
    await startOnce(directory, scripts.start)
  })
})
