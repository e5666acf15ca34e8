// A table that does not fit the options is refused at the start, with the path of the option.

import type { SqlUsersInput } from '@grantry/users/options'
import { sqlUsers } from '@grantry/users/sql'
import { beforeAll, describe, expect, test } from 'vitest'
import { describeDatabases, type HostDatabase, usersFactory } from './databases.ts'
import { accountsScript, mapping, quotedTable } from './users-table.ts'

const { columns } = mapping

describeDatabases('at the start, a table', (open, isPostgresql) => {
  const create = usersFactory()
  let database: HostDatabase

  beforeAll(async () => {
    database = await open()
    for (const statement of accountsScript(isPostgresql)) await database.run(statement)
    await database.run('CREATE TABLE plain (id TEXT, name TEXT, hash VARCHAR(60))')
    await database.run('CREATE TABLE numbers (id INTEGER PRIMARY KEY, name TEXT UNIQUE, hash TEXT)')
    await database.run("INSERT INTO numbers VALUES (7, 'seven', NULL)")
  })

  const plain = { table: 'plain', columns: { sub: 'id', username: 'name', password: 'hash' } }

  const cases: readonly (readonly [string, Omit<SqlUsersInput, 'url' | 'file'>, RegExp])[] = [
    ['that is missing', { ...mapping, table: 'nothing' }, /^users\.table: the database has no table .*"nothing"/u],
    [
      'without the column of the sub',
      { ...mapping, columns: { ...columns, sub: 'x"; DROP TABLE "the ""accounts"""; --' } },
      /^users\.columns\.sub: the table .* has no column .*; it has id, user name, hash/u,
    ],
    [
      'whose column has another case',
      { ...mapping, columns: { ...columns, password: 'HASH' } },
      /^users\.columns\.password: /u,
    ],
    [
      'without the column of a claim',
      { ...mapping, columns: { ...columns, claims: { zoneinfo: { column: 'zone' } } } },
      /^users\.columns\.claims\.zoneinfo\.column: /u,
    ],
    [
      'without the column of active users',
      { ...mapping, columns: { ...columns, active: { column: 'state', equals: 'on' } } },
      /^users\.columns\.active\.column: /u,
    ],
    [
      'without an index for the names',
      plain,
      /^users\.columns\.username: no index finds a name, .* run CREATE UNIQUE INDEX .*, or set caseSensitive to true$/u,
    ],
    [
      'whose index of the names compares them in another way',
      { ...mapping, caseSensitive: true },
      /^users\.columns\.username: .* set caseSensitive to false$/u,
    ],
  ]

  test.each(cases)('%s is refused', async (_name, options, message) => {
    const users = create({ ...database.where, ...options })
    await expect(users.open()).rejects.toThrow(message)
    // No request reads it either.
    await expect(users.authenticate?.({ username: 'alice', password: 'x' })).rejects.toMatchObject({
      code: 'temporarily_unavailable',
    })
  })

  test('without an index for the sub is refused, and accepted with it', async () => {
    const sensitive = { ...plain, caseSensitive: true }
    await database.run('CREATE INDEX plain_names ON plain (name)')
    await expect(create({ ...database.where, ...sensitive }).open()).rejects.toThrow(/^users\.columns\.sub: no index/u)
    await database.run('CREATE INDEX plain_subs ON plain (id)')
    await create({ ...database.where, ...sensitive }).open()
    if (!isPostgresql) return
    await expect(create({ ...database.where, ...sensitive, rehash: true }).open()).rejects.toThrow(
      /^users\.rehash: the column "hash" has 60 characters/u,
    )
  })

  test('of numbers has them as sub, and nothing but their usual form', async () => {
    const users = create({ ...database.where, ...plain, table: 'numbers', caseSensitive: true })
    await users.open()
    const known = await Promise.all(
      ['7', '07', '7.0', ' 7', '8', 'seven', '', '9'.repeat(40)].map((sub) => users.isActive?.(sub)),
    )
    expect(known).toEqual([true, false, false, false, false, false, false, false])
  })

  test('has still all of its rows', async () => {
    await database.run(`INSERT INTO ${quotedTable} (id, "user name", enabled) VALUES ('z', 'z', true)`)
    expect(await create({ ...database.where, ...mapping }).isActive?.('z')).toBe(true)
  })
})

describe('an option', () => {
  const valid = { ...mapping, file: '/nowhere/app.db' }
  test.each([
    [{ ...valid, url: 'postgresql://u:s3cret-x@127.0.0.1/app' }, 'users must have either url (PostgreSQL) or file'],
    [{ ...mapping }, 'users must have either url (PostgreSQL) or file'],
    [{ ...valid, schema: 'public' }, 'users must not have a schema with a file'],
    [{ ...mapping, url: 'mysql://u:s3cret-x@127.0.0.1/app' }, 'users.url must be a URL such as'],
    [
      { ...mapping, url: 'postgresql://u:s3cret-x@127.0.0.1/app?sslmode=no-verify' },
      'users.url: the url does not have',
    ],
    [{ ...valid, tabel: 'x' }, 'users.tabel is not a known option; did you mean table?'],
    [{ ...valid, table: '' }, 'users.table must not be empty'],
    [{ ...valid, table: 'a\0b' }, 'users.table must not contain NUL'],
    [{ ...valid, table: 'x'.repeat(64) }, 'users.table must be at most 63 bytes'],
    [{ ...valid, columns: { ...columns, claims: { sub: 'id' } } }, 'users.columns.claims must not contain sub'],
    [{ ...valid, columns: { ...columns, claims: { email: 1 } } }, 'users.columns.claims.email must be the name of a'],
    [
      { ...valid, columns: { ...columns, active: { column: 'a' } } },
      'users.columns.active must be the name of a column',
    ],
    [{ ...valid, rehash: 'yes' }, 'users.rehash must be true or false'],
    [{ ...valid, maxConnections: 0 }, 'users.maxConnections must be 1 to 1000'],
  ])('that is mistyped is refused: %#', (options, message) => {
    expect(() => sqlUsers(options as SqlUsersInput)).toThrow(message)
    expect(() => sqlUsers(options as SqlUsersInput)).not.toThrow('s3cret')
  })
})
