// Paths, URLs and machines on which `npm create grantry` failed, or did something else than it printed.
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { parseEnv } from 'node:util'
import Database from 'libsql'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { environmentFile } from '../../packages/create-grantry/src/environment-file.ts'
import { npm, setUp, startOnce } from '../../packages/create-grantry/src/prove.ts'
import { create, emptyDirectory } from './created.ts'

/** A psql that keeps what it gets, and knows one table. */
function fakePsql() {
  const directory = emptyDirectory()
  const script = `#!/bin/sh
printf '%s\\n' "$@" > ${directory}/arguments
printf '%s' "$PGPASSWORD" > ${directory}/password
printf 'id\\nusername\\npassword\\n'
`
  writeFileSync(join(directory, 'psql'), script)
  chmodSync(join(directory, 'psql'), 0o755)
  vi.stubEnv('PATH', `${directory}${delimiter}${process.env.PATH}`)
  onTestFinished(() => void vi.unstubAllEnvs())
  return { received: (file: string): string => readFileSync(join(directory, file), 'utf8') }
}

const fromTable = (directory: string, database: string) =>
  create([directory, '--no-start', '--users', 'table', '--table', 'users', '--database', database])

describe('the password of a database', () => {
  test.each([
    ['postgresql://app:the%24secret@db/shop?sslmode=require', 'postgresql://app@db/shop?sslmode=require'],
    ['postgresql://app@db/shop?password=the%24secret&options=-c%20a', 'postgresql://app@db/shop?options=-c%20a'],
    [
      'postgresql://app:other@db/shop?sslmode=require&p%61ssword=the$secret',
      'postgresql://app@db/shop?sslmode=require',
    ],
  ])('of %s is not in the arguments of psql', async (database, shown) => {
    const { received } = fakePsql()
    await fromTable(emptyDirectory(), database)
    expect(received('arguments')).not.toContain('secret')
    expect(received('arguments')).toContain(`\n${shown}\n`)
    expect(received('password')).toBe('the$secret')
  })

  test.each([
    ['postgresql://app@db/shop?sslpassword=secret', '--database has an sslpassword'],
    ['postgresql://app:100%@db/shop', '--database has a percent sign without two digits'],
    ['postgresql://app:secret@[db/shop', '--database is a malformed URL'],
  ])('of %s is refused without it', async (database, sentence) => {
    fakePsql()
    const directory = emptyDirectory()
    const { code, err } = await fromTable(directory, database)
    expect([code, err]).toEqual([1, expect.stringContaining(sentence)])
    expect(err).not.toContain('secret')
    expect(readdirSync(directory)).toEqual([])
  })
})

describe('.env', () => {
  test.each(['a b', 'a#b', 'a"b', "a'b", 'C:\\a b', ' a ', 'a;b=c&d', ''])('keeps %j', (value) => {
    expect(parseEnv(environmentFile({ VALUE: value })).VALUE).toBe(value)
  })

  // Bun and Next.js replace a variable in quotes, too. A line break would begin another setting.
  test.each(['a$HOME', 'a\nPORT=1', 'a\rb', `a'"b`, "a'\\b"])('has no form for %j, which is refused', (value) => {
    expect(() => environmentFile({ VALUE: value })).toThrow('the value of VALUE has a character')
  })

  test('keeps the path of a database, and what is refused writes nothing', async () => {
    const folder = join(emptyDirectory(), 'my # users')
    mkdirSync(folder)
    const file = join(folder, 'users.db')
    const database = new Database(file)
    database.exec('CREATE TABLE users (id, username, password)')
    database.close()
    const directory = emptyDirectory()
    expect(await fromTable(directory, file)).toMatchObject({ code: 0, err: '' })
    expect(parseEnv(readFileSync(join(directory, '.env'), 'utf8')).USERS_DATABASE).toBe(file)
    fakePsql()
    const untouched = emptyDirectory()
    const { code, err } = await fromTable(untouched, 'postgresql://app:a$b@db/shop')
    expect([code, err]).toEqual([1, expect.stringContaining('the value of USERS_DATABASE has a character')])
    expect(readdirSync(untouched)).toEqual([])
  })
})

test('a database without --users table is refused, not ignored', async () => {
  for (const more of [
    ['--database', 'a.db'],
    ['--table', 'users'],
  ]) {
    const directory = emptyDirectory()
    const { code, err } = await create([directory, '--no-start', ...more])
    expect([code, err]).toEqual([1, expect.stringContaining('add --users table, or leave them out')])
    expect(readdirSync(directory)).toEqual([])
  }
})

test('a directory named .gitignore is refused with a sentence', async () => {
  const directory = emptyDirectory()
  mkdirSync(join(directory, '.gitignore'))
  const { code, err } = await create([directory, '--no-start'])
  expect([code, err]).toEqual([1, expect.stringContaining('.gitignore is there and cannot be read (EISDIR)')])
  expect(readdirSync(directory)).toEqual(['.gitignore'])
})

test('the next command quotes the directory', async () => {
  const { out } = await create([join(emptyDirectory(), "bob's app $HOME"), '--no-start'])
  expect(out).toMatch(/^Next: cd '\S*\/bob'\\''s app \$HOME' && npm install && npm start$/mu)
})

test.runIf(process.platform === 'linux')('a directory that cannot be created is refused', async () => {
  const { code, err } = await create(['/proc/nothing/here', '--no-start'])
  expect([code, err]).toEqual([1, expect.stringContaining('cannot write to /proc/nothing/here (ENOENT); choose a')])
})

test('a command that cannot start is reported with the reason', () => {
  vi.stubEnv('PATH', emptyDirectory())
  onTestFinished(() => void vi.unstubAllEnvs())
  const directory = emptyDirectory()
  for (const run of [
    () => npm(directory, 'install'),
    () => setUp(directory, 'no-such-program init', new PassThrough()),
  ]) {
    expect(run).toThrow(/^\S+ in(?:stall|it) failed in \S+:\nspawnSync \S+ ENOENT$/u)
  }
})

describe('a project that does not start', () => {
  /** A program that starts another one, which holds its output and ends with no signal but SIGKILL. */
  function launcher(line: string): string {
    const directory = emptyDirectory()
    const child = `process.on('SIGTERM', () => {}); console.log(process.pid + ' ${line}'); setInterval(() => {}, 1000)`
    const parent = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(child)}], { stdio: 'inherit' })
setInterval(() => {}, 1000)`
    writeFileSync(join(directory, 'launcher.cjs'), parent)
    return directory
  }

  test.each([
    ['waits', 2000, 'the project does not start:'],
    ['listening on 127.0.0.1:1', 60_000, 'the discovery document of the project is not sent:'],
  ])('and prints %j is ended, although a program of it holds the output', async (line, start, sentence) => {
    const directory = launcher(line)
    const started = startOnce(directory, `${process.execPath} launcher.cjs`, { start, end: 100 })
    const error: unknown = await started.catch((thrown: unknown) => thrown)
    const [, pid] = /^(\d+) /mu.exec(String(error)) ?? []
    if (pid !== undefined) process.kill(Number(pid), 'SIGKILL')
    expect(String(error)).toContain(`TypeError: ${sentence}`)
  })
})
