// Users who sign in at another provider, with accounts in the storage of the ready server, or in a table of the host: one
// with columns for the name and the address, or one column for both.
import { openAdministration } from '@grantry/administration'
import { openEntries } from '@grantry/core'
import type { AccountStore } from '@grantry/plugins/self-service'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import type { SqlUsersInput } from '@grantry/users/options'
import { sqlAccounts } from '@grantry/users/sql-accounts'
import { afterAll, describe, expect, test } from 'vitest'
import { storedAccounts } from '../../packages/server/src/accounts/stored-accounts.ts'
import { setUpUpstream } from '../upstream/parties.ts'
import { describeDatabases, usersFactory } from './databases.ts'
import { accountsScript, mapping, quotedTable } from './users-table.ts'

const verified = { email: 'victim@acme.example', email_verified: true }
const owner = {
  username: 'victim@acme.example',
  email: 'victim@acme.example',
  emailVerified: true,
  password: 'long enough',
}

/** The account of a user is not that of another one who got the address at the provider later. */
async function expectOwnAccounts(accounts: AccountStore, before: typeof owner | undefined) {
  const known = before && (await accounts.create(before))
  const f = await setUpUpstream({
    double: { claims: verified },
    options: { accounts },
    provider: { linkBy: ['acme.example'] },
  })
  const first = (await f.claimsAfter()).claims?.sub
  if (typeof known === 'object') expect(first).toBe(known.sub)
  f.double.set({ claims: { ...verified, sub: 'the-next-owner' } })
  const next = (await f.claimsAfter()).claims?.sub
  expect(next).not.toBe(first)
  expect(await accounts.find(String(next))).toMatchObject({ emailVerified: false })
  expect(await accounts.findByEmail(verified.email)).toMatchObject({ sub: first })
}

const ways = [
  ['that the provider has made', undefined],
  ['that the address has linked', owner],
] as const

describe('accounts in the storage', () => {
  test.each(ways)('18.13 do not change hands with an address: one %s', async (_, before) => {
    const administration = openAdministration({
      entries: openEntries({ issuer: 'https://id.example.com', storage: memoryDriver() }),
      check: { client: async () => {}, scope: async () => {}, user: async () => {} },
      hashPassword: async (password) => `hash of ${password}`,
      revoke: async () => {},
    })
    await expectOwnAccounts(
      storedAccounts(() => administration),
      before,
    )
  })
})

describeDatabases('accounts in a table', (open, isPostgresql) => {
  const opened: { close(): Promise<void> }[] = []
  afterAll(() => Promise.all(opened.map((accounts) => accounts.close())))
  const usersOf = usersFactory()

  const shared = { ...mapping, columns: { ...mapping.columns, username: 'email' } } satisfies Omit<
    SqlUsersInput,
    'file'
  >

  async function table(columns: Omit<SqlUsersInput, 'url' | 'file'>) {
    const { where, run } = await open()
    await run(`DROP TABLE IF EXISTS ${quotedTable}`)
    for (const statement of accountsScript(isPostgresql)) await run(statement)
    const isShared = columns === shared
    if (isShared) {
      await run(`DROP INDEX names`)
      await run(`ALTER TABLE ${quotedTable} DROP COLUMN "user name"`)
    }
    for (const column of isShared ? ['email'] : ['email', '"user name"']) {
      const folded = isPostgresql ? `lower(${column})` : `${column} COLLATE NOCASE`
      await run(`CREATE UNIQUE INDEX unique_${column.length} ON ${quotedTable} (${folded})`)
    }
    const accounts = sqlAccounts({ ...columns, ...where })
    opened.push(accounts)
    return { accounts: accounts as AccountStore, users: usersOf({ ...columns, ...where }) }
  }

  test('with one column for both, a name that is written is no proved address', async () => {
    const { accounts } = await table(shared)
    const created = await accounts.create({ ...owner, emailVerified: false })
    if (created === 'taken') throw new Error('taken')
    const { username, email } = owner
    const proved = { username: 'other@acme.example', email: 'other@acme.example', emailVerified: true }
    // The page of the account takes an address back, or another caller writes a name alone.
    for (const change of [{ username, email, emailVerified: false }, { username, email }, { username }]) {
      expect(await accounts.change(created.sub, proved)).toMatchObject(proved)
      expect(await accounts.change(created.sub, change), JSON.stringify(change)).toMatchObject({
        username,
        email,
        emailVerified: false,
      })
      expect(await accounts.findByEmail(email)).toBeUndefined()
    }
    // The same name is no change.
    expect(await accounts.change(created.sub, proved)).toMatchObject(proved)
    expect(await accounts.change(created.sub, { username: proved.username })).toMatchObject(proved)
  })

  describe.each([
    ['a column for each', mapping],
    ['one column for the name and the address', shared],
  ])('with %s', (_, columns) => {
    test.each(ways)('18.13 do not change hands with an address: one %s', async (_way, before) => {
      await expectOwnAccounts((await table(columns)).accounts, before)
    })

    test('18.13 have no name from an address that the provider may not decide', async () => {
      const { accounts, users } = await table(columns)
      const f = await setUpUpstream({ double: { claims: verified }, options: { accounts } })
      const sub = String((await f.claimsAfter()).claims?.sub)
      expect(await accounts.findByName(verified.email)).toBeUndefined()
      expect(await accounts.find(sub)).toMatchObject({ emailVerified: false })
      // No text that is no address.
      const { email } = (await accounts.find(sub)) ?? {}
      expect([undefined, verified.email]).toContain(email)
      expect([null, undefined, verified.email]).toContain((await users.claims?.(sub, ['email']))?.email)
      // Its owner can sign up.
      const created = await accounts.create(owner)
      expect(created).toMatchObject({ username: verified.email, email: verified.email, emailVerified: true })
      if (created === 'taken') throw new Error('taken')
      expect(await accounts.findByEmail(verified.email)).toMatchObject({ sub: created.sub })
      expect(await accounts.checkPassword?.(created.sub, owner.password)).toBe(true)
      // The user can prove another one.
      const proved = { email: 'other@acme.example', emailVerified: true }
      expect(await accounts.change(sub, proved)).toMatchObject(proved)
    })
  })
})
