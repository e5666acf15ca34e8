import type { AccountStore } from '@grantry/plugins/self-service'
import { type SqlAccounts, sqlAccounts } from '@grantry/users/sql-accounts'
import { afterAll, describe, expect, test } from 'vitest'
import { describeDatabases } from './databases.ts'
import { accountsScript, mapping, quotedTable } from './users-table.ts'

const carol = {
  username: 'Carol@example.com',
  email: 'Carol@example.com',
  emailVerified: true,
  password: 'correct horse battery',
  claims: { name: 'Carol', updated_at: 5, address: { country: 'NZ' }, unknown: 'x' },
}

const unique = (isPostgresql: boolean): readonly string[] =>
  ['"user name"', 'email'].map(
    (column, index) =>
      `CREATE UNIQUE INDEX unique_${index} ON ${quotedTable} (${isPostgresql ? `lower(${column})` : `${column} COLLATE NOCASE`})`,
  )

describeDatabases('accounts in a table', (open, isPostgresql) => {
  const opened: SqlAccounts[] = []
  afterAll(() => Promise.all(opened.map((accounts) => accounts.close())))

  async function table(script: readonly string[] = [...accountsScript(isPostgresql), ...unique(isPostgresql)]) {
    const { where, run } = await open()
    await run(`DROP TABLE IF EXISTS ${quotedTable}`)
    for (const statement of script) await run(statement)
    const create = () => {
      const accounts = sqlAccounts({ ...mapping, ...where })
      opened.push(accounts)
      return accounts
    }
    return { create, run }
  }

  test('an address is taken from an account that has not proved it by a proof only', async () => {
    const { create, run } = await table()
    await run(`UPDATE ${quotedTable} SET email = 'carol@old.example', verified = false WHERE id = 'c-3'`)
    const accounts = create()
    const changed = (emailVerified: boolean) => accounts.change('b-2', { email: 'carol@old.example', emailVerified })
    expect(await changed(false)).toBe('taken')
    expect((await accounts.find('c-3'))?.email).toBe('carol@old.example')
    expect(await changed(true)).toMatchObject({ email: 'carol@old.example', emailVerified: true })
    expect((await accounts.find('c-3'))?.email).toBeUndefined()
  })

  test('a password is not changed when the user was revoked while its hash was computed', async () => {
    const accounts = (await table()).create()
    const created = await accounts.create(carol)
    if (created === 'taken') throw new Error('taken')
    const { sub } = created
    const change = (isStillAllowed: () => Promise<boolean>, version = created.version) =>
      accounts.change(sub, { password: 'a new password', version, isStillAllowed })
    const allowed = async () => true
    let calls = 0
    /** The revocation comes after the write. */
    const once = async () => {
      calls += 1
      return calls === 1
    }
    /** An administrator sets another one. */
    const replaced = async () => {
      await accounts.change(sub, { password: 'that of the owner' })
      return true
    }
    let answers = 0
    /** It cannot be read after the write. */
    const unreadable = async () => {
      answers += 1
      if (answers > 1) throw new Error('The storage does not respond')
      return true
    }
    await expect(change(unreadable)).rejects.toMatchObject({ cause: { message: 'The storage does not respond' } })
    expect(await accounts.checkPassword(sub, carol.password)).toBe(true)
    for (const isAllowed of [async () => false, once]) expect(await change(isAllowed)).toBeUndefined()
    expect(await change(allowed, 'another version')).toBeUndefined()
    expect(await accounts.checkPassword(sub, carol.password)).toBe(true)
    expect(await accounts.find(sub)).toEqual(created)
    expect(await change(replaced)).toBeUndefined()
    expect(await accounts.checkPassword(sub, 'that of the owner')).toBe(true)
    const { version: ofOwner } = (await accounts.find(sub)) ?? {}
    let asked = 0
    /** An administrator sets another one after the write, and it counts. */
    const replacedAfter = async () => {
      asked += 1
      if (asked > 1) await accounts.change(sub, { password: 'the last of the owner' })
      return asked === 1
    }
    expect(await change(replacedAfter, ofOwner)).toBeUndefined()
    expect(await accounts.checkPassword(sub, 'the last of the owner')).toBe(true)
    const { version = '' } = (await accounts.find(sub)) ?? {}
    expect(await change(allowed, version)).toEqual({ ...created, version: expect.not.stringContaining(version) })
    expect(await accounts.checkPassword(sub, 'a new password')).toBe(true)
  })

  test('are created, found, changed and removed', async () => {
    const accounts = (await table()).create()
    const store: AccountStore = accounts
    await accounts.open()
    const created = await accounts.create(carol)
    if (created === 'taken') throw new Error('taken')
    const { password: _, ...shown } = carol
    const { unknown: __, ...claims } = carol.claims
    expect(created).toEqual({
      ...shown,
      claims,
      version: expect.any(String),
      sub: expect.stringMatching(/^[\da-f-]{36}$/u),
    })
    expect(await store.findByEmail('carol@EXAMPLE.com')).toEqual(created)
    expect(await store.findByName('CAROL@example.com')).toEqual(created)
    expect(await accounts.checkPassword(created.sub, carol.password)).toBe(true)
    expect(await accounts.checkPassword(created.sub, 'another')).toBe(false)
    const changed = await accounts.change(created.sub, {
      email: 'carol@new.example',
      claims: { name: 'C' },
      password: 'a new password',
    })
    expect(changed).toMatchObject({ email: 'carol@new.example', emailVerified: false, claims: { name: 'C' } })
    expect(accounts.claimNames).toEqual(expect.arrayContaining(Object.keys(claims)))
    const some = await accounts.change(created.sub, { someClaims: { name: 'D', unknown: 'x' } })
    expect(some).toMatchObject({ email: 'carol@new.example', claims: { name: 'D' } })
    expect((await accounts.change(created.sub, { someClaims: { name: null } }))?.valueOf()).toMatchObject({
      claims: {},
    })
    expect(await accounts.findByEmail('carol@new.example')).toBeUndefined()
    expect(await accounts.checkPassword(created.sub, 'a new password')).toBe(true)
    expect(await accounts.remove(created.sub)).toBe(true)
    expect(await accounts.remove(created.sub)).toBe(false)
    expect(await accounts.change(created.sub, { email: 'x@example.com' })).toBeUndefined()
  })

  test('have names and addresses that belong to one of them, also of twenty calls at the same moment', async () => {
    const { create } = await table()
    const stores = [create(), create()]
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        stores[index % 2]?.create({
          ...carol,
          username: `user${index}`,
          email: index % 4 < 2 ? 'c@example.com' : 'C@example.com',
        }),
      ),
    )
    expect(results.filter((outcome) => outcome !== 'taken')).toHaveLength(1)
    const [store] = stores
    expect(await store?.create({ ...carol, username: 'ALICE' })).toBe('taken')
    expect(await store?.change('b-2', { email: 'ALICE@example.com', emailVerified: true })).toBe('taken')
  })

  test('keep no owner of an address out who proves it, by an account that has not', async () => {
    const accounts = (await table()).create()
    const squat = async (username: string, email: string) => {
      const squatter = await accounts.create({ username, emailVerified: false })
      if (squatter === 'taken') throw new Error('taken')
      await accounts.change(squatter.sub, { email, emailVerified: false })
      return squatter.sub
    }
    const first = await squat('squatter', 'carol@EXAMPLE.com')
    expect(await accounts.create({ ...carol, username: 'squatter' })).toBe('taken')
    expect(await accounts.find(first)).toMatchObject({ email: 'carol@EXAMPLE.com' })
    const created = await accounts.create(carol)
    expect(created).toMatchObject({ email: carol.email, emailVerified: true })
    expect(await accounts.find(first)).not.toHaveProperty('email')
    if (created === 'taken') throw new Error('taken')
    const second = await squat('another', 'carol@new.example')
    const proved = { email: 'Carol@new.example', emailVerified: true }
    expect(await accounts.change(created.sub, proved)).toMatchObject(proved)
    expect(await accounts.find(second)).not.toHaveProperty('email')
    // Not the other way round, and not without a proof.
    expect(await accounts.change(second, { email: 'carol@new.example', emailVerified: false })).toBe('taken')
    expect(await accounts.change(second, { email: 'carol@new.example', emailVerified: true })).toBe('taken')
  })

  test('keep names that contain SQL as they are', async () => {
    const accounts = (await table()).create()
    const username = `x'; DROP TABLE ${quotedTable}; --`
    const created = await accounts.create({ ...carol, username })
    expect(created).toMatchObject({ username })
    expect(await accounts.findByName("' OR '1'='1")).toBeUndefined()
    expect(await accounts.findByName('alice')).toMatchObject({
      sub: 'a-1',
      email: 'alice@example.com',
      emailVerified: true,
    })
  })

  test('need an index for the addresses', async () => {
    const accounts = (await table(accountsScript(isPostgresql))).create()
    await expect(accounts.open()).rejects.toThrow(
      'users.columns.claims.email: no index finds an address; run CREATE UNIQUE INDEX',
    )
  })
})

describe('the options of accounts in a table', () => {
  test('name the columns of the address', () => {
    const { email: _, ...claims } = mapping.columns.claims
    expect(() => sqlAccounts({ ...mapping, file: 'app.db', columns: { ...mapping.columns, claims } })).toThrow(
      'users.columns.claims.email is required',
    )
  })
})
