// A database that ignores accents finds the user of another domain by a name: `ann@bucher.example` and `ann@bücher.example`
// are two mailboxes. Who signs in is compared once more; so must be the user whom an administrator names, or the sessions
// and factors of another one are ended.
import { expect, test } from 'vitest'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'
import { usersFactory } from './databases.ts'

describeWithPostgresql('users in a table that ignores accents', () => {
  const start = postgresqlServers()
  const open = usersFactory()

  test('are found for an administrator by the names with which they sign in', async () => {
    const { url, query } = await start()
    await query(`CREATE COLLATION plain (provider = icu, locale = 'und-u-ks-level1', deterministic = false)`)
    await query('CREATE TABLE accounts (id text PRIMARY KEY, name text COLLATE plain NOT NULL, hash text)')
    await query('CREATE UNIQUE INDEX names ON accounts (lower(name))')
    await query(`INSERT INTO accounts VALUES ('ann-1', 'ann@bücher.example', NULL)`)
    const columns = { sub: 'id', username: 'name', password: 'hash' }
    const users = open({ url, table: 'accounts', columns, operationTimeout: 60 })
    await users.open()
    const subs = async (name: string) => (await users.find?.(name))?.map(({ sub }) => sub)
    expect(await subs('ann@bücher.example')).toEqual(['ann-1'])
    expect(await subs('Ann@XN--BCHER-KVA.example')).toEqual(['ann-1'])
    expect(await subs('ann-1')).toEqual(['ann-1'])
    expect(await subs('ann@bucher.example')).toEqual([])
  })
})
