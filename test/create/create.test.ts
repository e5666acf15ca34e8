// `npm create grantry`: what it writes, and what it refuses.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sqlUsers } from '@grantry/users/sql'
import { describe, expect, test } from 'vitest'
import { columnsOf, newTable } from '../../packages/create-grantry/src/users-table.ts'
import { create, emptyDirectory, root } from './created.ts'

const read = (directory: string, file: string): string => readFileSync(join(directory, file), 'utf8')
const programFiles = ['browser.ts', 'client.ts', 'grantry.ts', 'server.ts', 'sign-in.test.ts', 'site.ts']
const appFiles = ['.env', '.gitignore', 'package.json', 'tsconfig.json', ...programFiles].sort()

describe('without a terminal', () => {
  test('writes an application with the defaults, and names one next command', async () => {
    const directory = emptyDirectory()
    const { code, out, err } = await create([directory, '--no-start'])
    expect([code, err]).toEqual([0, ''])
    expect(readdirSync(directory).sort()).toEqual(appFiles)
    expect(out.match(/^Next: /gmu)).toHaveLength(1)
    expect(read(directory, 'grantry.ts')).toContain('const storage = more.storage ?? filesystemDriver(')
  })

  test.each([
    ['.env', []],
    ['.dev.vars', ['--where', 'workers', '--storage', 'd1']],
  ] as const)('keeps secrets in %s, which only this user can read and git ignores', async (file, more) => {
    const directory = emptyDirectory()
    expect((await create([directory, '--no-start', ...more])).err).toBe('')
    const secrets = [...read(directory, file).matchAll(/^\w*(?:SECRET|PASSWORD)=(.+)$/gmu)].map(([, value]) => value)
    expect(secrets).toHaveLength(3)
    const others = readdirSync(directory).filter((name) => name !== file)
    for (const secret of secrets) expect(others.map((name) => read(directory, name)).join()).not.toContain(secret)
    expect(statSync(join(directory, file)).mode & 0o777).toBe(0o600)
    expect(read(directory, '.gitignore').split('\n')).toContain(file)
  })

  test('writes an application of Next.js, whose routes are in the folders of the endpoints and of the pages', async () => {
    const directory = emptyDirectory()
    const { code, out } = await create([directory, '--no-start', '--where', 'next', '--what', 'mcp', '--pages', 'mine'])
    expect([code, out]).toEqual([0, expect.stringMatching(/ && npm install && npm run dev\n$/u)])
    const files = readdirSync(join(directory, 'app'), { recursive: true, encoding: 'utf8' })
    expect(files.filter((file) => file.endsWith('route.ts')).sort()).toEqual([
      '.well-known/[...path]/route.ts',
      '.well-known/oauth-protected-resource/mcp/route.ts',
      'callback/route.ts',
      'connect/[...path]/route.ts',
      'login/route.ts',
      'mcp/route.ts',
      'sign-in/route.ts',
    ])
    for (const file of files.filter((each) => each.endsWith('route.ts'))) {
      const [, target = ''] = /from '(.*)'/u.exec(read(directory, `app/${file}`)) ?? []
      expect(existsSync(join(directory, 'app', file, '..', target)), file).toBe(true)
    }
    expect(read(directory, '.gitignore')).toBe(
      'node_modules/\n.env\ndata/\n*.db\n.next/\nnext-env.d.ts\n*.tsbuildinfo\n',
    )
  })

  test.each([
    ['postgresql', 'url'],
    ['sqlite', 'file'],
  ] as const)(
    'writes a test that has no table, with a database that sqlUsers() accepts as with %s',
    async (storage, place) => {
      const directory = emptyDirectory()
      await create([directory, '--no-start', '--users', 'new', '--storage', storage])
      const [, database = ''] = /USERS_DATABASE: '(.*)'/u.exec(read(directory, 'sign-in.test.ts')) ?? []
      const { table, columns } = newTable(database)
      expect(() => sqlUsers({ [place]: database, table, columns } as Parameters<typeof sqlUsers>[0])).not.toThrow()
    },
  )

  test('writes a Worker that is that of @grantry/cloudflare, with a schedule', async () => {
    const directory = emptyDirectory()
    await create([directory, '--no-start', '--where', 'workers', '--storage', 'd1'])
    expect(read(directory, 'worker.ts')).toContain("import { worker } from '@grantry/cloudflare'")
    expect(read(directory, 'wrangler.jsonc')).toContain('"crons"')
    const guide = readFileSync(join(root, 'docs/guides/cloudflare.md'), 'utf8')
    // Before the date in the guide, a Worker needs a flag.
    const [, first = ''] = /Before `([\d-]+)` as/u.exec(guide) ?? []
    const [, date = ''] = /"compatibility_date": "([\d-]+)"/u.exec(read(directory, 'wrangler.jsonc')) ?? []
    expect(date > first).toBe(true)
    expect(read(directory, 'wrangler.jsonc')).not.toContain('nodejs_compat')
  })

  test('takes the packages from a folder', async () => {
    const directory = emptyDirectory()
    await create([directory, '--no-start', '--packed', join(directory, '../packed')])
    expect(JSON.parse(read(directory, 'package.json')).dependencies['@grantry/core']).toBe(
      'file:../packed/grantry-core-0.1.0.tgz',
    )
  })

  test.each([
    [
      ['--storage', 'mysql'],
      '--storage does not accept "mysql"; it accepts files, memory, sqlite, postgresql, redis, d1',
    ],
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

describe('answers that cannot be combined', () => {
  test.each([
    [['--where', 'workers', '--storage', 'redis'], '--where workers needs --storage d1'],
    [['--storage', 'd1'], '--storage d1 needs --where workers'],
    [['--what', 'mcp', '--where', 'workers'], '--what mcp does not run with --where workers'],
    [['--users', 'new', '--where', 'workers'], '--users new does not run with --where workers'],
    [['--users', 'provider', '--pages', 'mine'], '--users provider needs --pages ready'],
    [['--what', 'plugin', '--where', 'bun'], '--what plugin has no use for --where'],
    [['--users', 'table'], '--users table needs --database'],
    [['--users', 'table', '--database', 'none.db', '--table', 'users'], 'there is no SQLite file'],
    [['--users', 'table', '--database', 'none.db', '--table', "a'; drop"], '--table must be a name of letters'],
  ])('%j are refused with a sentence', async (parameters, sentence) => {
    const directory = emptyDirectory()
    const { code, err } = await create([directory, '--no-start', ...parameters])
    expect([code, err]).toEqual([1, expect.stringContaining(sentence)])
    expect(readdirSync(directory)).toEqual([])
  })
})

describe('a table that exists', () => {
  test.each([
    [
      ['id', 'email', 'email_verified', 'display_name', 'password_hash', 'status'],
      {
        ...{ sub: 'id', username: 'email', password: 'password_hash' },
        claims: {
          ...{ name: 'display_name', email: 'email' },
          email_verified: { column: 'email_verified', type: 'boolean' },
        },
      },
    ],
    [
      ['UserId', 'login', 'pwd', 'Password', 'isActive'],
      { sub: 'UserId', username: 'login', password: 'Password', active: 'isActive', claims: {} },
    ],
  ])('with the columns %j is understood', (names, columns) => {
    expect(columnsOf(names, 'accounts')).toEqual(columns)
  })

  test('without a password is refused with its columns', () => {
    expect(() => columnsOf(['id', 'name'], 'accounts')).toThrow('the table accounts has the columns id, name: none is')
  })
})
