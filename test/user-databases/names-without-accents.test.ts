// A database that ignores accents, spaces or hyphens finds the user of another name: `ann@bucher.example` and
// `ann@bücher.example` are two mailboxes, one of which can belong to a provider, and each spelling with a hyphen would have
// its own limit for guesses. What was found is compared once more, for users who sign in or recover their account, and for an
// administrator who names a user, or the sessions and factors of another one are ended.
import type { SqlUsersInput } from '@grantry/users/options'
import { sqlAccounts } from '@grantry/users/sql-accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithLdap, type LdapServer, ldapServers, suffix } from '../support/ldap-server.ts'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'
import { foreignHashes, password } from '../users/hash-vectors.ts'
import { usersFactory } from './databases.ts'
import { ldapFactory, people, reader } from './directory.ts'

const hash = foreignHashes['bcrypt $2b$'] ?? ''

describeWithPostgresql('users in a table that ignores accents', () => {
  const start = postgresqlServers()
  const open = usersFactory()
  const accounts: ReturnType<typeof sqlAccounts>[] = []
  afterAll(() => Promise.all(accounts.map((store) => store.close())))

  const columns = { sub: 'id', username: 'name', password: 'hash', claims: { email: 'email', email_verified: 'ok' } }
  const mapping = { table: 'accounts', columns, operationTimeout: 60 } satisfies Omit<SqlUsersInput, 'url'>

  /** A table whose names have a type, with two users. */
  async function tableOf(type: string, ...before: readonly string[]) {
    const { url, query } = await start()
    await query('DROP TABLE IF EXISTS accounts')
    for (const statement of before) await query(statement)
    await query(`CREATE TABLE accounts (id text PRIMARY KEY, name ${type} NOT NULL, hash text, email text, ok boolean)`)
    await query('CREATE UNIQUE INDEX names ON accounts (lower(name))')
    await query('CREATE UNIQUE INDEX addresses ON accounts (lower(email))')
    await query(
      `INSERT INTO accounts VALUES ('ann-1', 'ann@bücher.example', '${hash}'), ('bob-2', 'Bób Lee', '${hash}')`,
    )
    const users = open({ url, ...mapping })
    await users.open()
    const store = sqlAccounts({ url, ...mapping })
    accounts.push(store)
    return {
      subsOf: async (name: string) => (await users.find?.(name))?.map(({ sub }) => sub),
      signsIn: async (username: string) => (await users.authenticate?.({ username, password }))?.sub,
      recovers: async (name: string) => (await store.findByName(name))?.sub,
    }
  }

  const names: readonly (readonly [typed: string, sub: string | undefined])[] = [
    ['ann@bücher.example', 'ann-1'],
    ['Ann@XN--BCHER-KVA.example', 'ann-1'],
    [' ANN@BÜCHER.EXAMPLE', 'ann-1'],
    ['ann@bucher.example', undefined],
    ['ann@bûcher.example', undefined],
    ['Bób Lee', 'bob-2'],
    ['Bo\u0301b LEE', 'bob-2'],
    ['bób-lee', undefined],
    ['bób, lee!', undefined],
  ]

  test('with a collation of ICU for the first level: no other name is found', async () => {
    const { subsOf, signsIn, recovers } = await tableOf(
      'text COLLATE plain',
      'DROP COLLATION IF EXISTS plain',
      `CREATE COLLATION plain (provider = icu, locale = 'und-u-ka-shifted-ks-level1', deterministic = false)`,
    )
    for (const [typed, sub] of names) {
      expect([typed, await subsOf(typed), await signsIn(typed), await recovers(typed)]).toEqual([
        typed,
        sub === undefined ? [] : [sub],
        sub,
        sub,
      ])
    }
    // The limits for guesses count the accents of a name as one: this one is the same user, as the database says.
    expect(await signsIn('Bob  Lee')).toBe('bob-2')
    expect(await subsOf('ann-1')).toEqual(['ann-1'])
  })

  test('with citext: each name in any case', async () => {
    const { subsOf, signsIn, recovers } = await tableOf('citext', 'CREATE EXTENSION IF NOT EXISTS citext')
    for (const [typed, sub] of names) {
      expect([typed, await subsOf(typed), await signsIn(typed), await recovers(typed)]).toEqual([
        typed,
        sub === undefined ? [] : [sub],
        sub,
        sub,
      ])
    }
    expect(await signsIn('Bob Lee')).toBeUndefined()
  })
})

describeWithLdap('users in a directory whose matching rules ignore spaces and hyphens', () => {
  const start = ldapServers()
  const create = ldapFactory()
  let server: LdapServer
  const subs = { ann: '77777777-7777-4777-8777-777777777777', bob: '88888888-8888-4888-8888-888888888888' }

  beforeAll(async () => {
    const person = (uid: string, uuid: string, phone: string) =>
      `dn: employeeType=${uuid},${people}\nobjectClass: inetOrgPerson\nemployeeType: ${uuid}\nuid: ${uid}\ncn: ${uid}\nsn: x\nentryUUID: ${uuid}\ntelephoneNumber: ${phone}\nuserPassword: ${password}`
    server = await start(
      [
        `dn: ${suffix}\nobjectClass: dcObject\nobjectClass: organization\no: example\ndc: example`,
        `dn: ${reader.bindDn}\nobjectClass: organizationalRole\nobjectClass: simpleSecurityObject\ncn: reader\nuserPassword: ${reader.bindPassword}`,
        `dn: ${people}\nobjectClass: organizationalUnit\nou: people`,
        person('ann lee', subs.ann, '+1 555-0100'),
        person('bob', subs.bob, '+1 555-0199'),
      ].join('\n\n'),
    )
  })

  test.each([
    ['ann lee', 'ann'],
    ['ANN LEE', 'ann'],
    // caseIgnoreMatch ignores all but one of them, and so do the limits for guesses.
    ['ann   lee', 'ann'],
    ['+1 555-0100', 'ann'],
    ['+1555-0100', 'ann'],
    ['+15550100', undefined],
    ['+1-5-5-5-0-1-0-0', undefined],
    ['+1 555-0199', 'bob'],
    ['+1 5550199', undefined],
    ['ann-lee', undefined],
  ] as const)('%j is the user %s, or none', async (typed, user) => {
    const users = create({
      url: server.url,
      ...reader,
      operationTimeout: 60,
      baseDn: people,
      attributes: { username: ['uid', 'telephoneNumber'] },
    })
    const sub = user && subs[user]
    expect((await users.authenticate?.({ username: typed, password }))?.sub).toBe(sub)
    expect((await users.find?.(typed))?.map((known) => known.sub)).toEqual(sub === undefined ? [] : [sub])
  })
})
