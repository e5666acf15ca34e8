/**
 * Attack: a thief of a session, or of a mailed link, chooses a new password. While its hash is computed, an administrator
 * revokes or disables the user, or sets another password. That of the thief must not take its place, and no session begins.
 * And the owner recovers the account meanwhile: the lost race of the thief must not end what the owner has done.
 *
 * OWASP ASVS 5.0 sections 6.3 and 7.4; docs/decisions/0022-revocation-by-epochs.md.
 */
import { openAdministration, storedUsers } from '@grantry/administration'
import { openEntries } from '@grantry/core'
import type { AccountStore } from '@grantry/plugins/self-service'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { storedAccounts } from '../../packages/server/src/accounts/stored-accounts.ts'
import { configuredUsers } from '../../packages/server/src/users/configured-users.ts'
import { accountUri, issuer, setUpAccount } from '../account/parties.ts'
import { password as oldPassword, quickHash } from '../administration/stored-user-setting.ts'
import { linkIn, memoryAccounts, setUpAccounts, titleOf } from '../self-service/parties.ts'

const passwordUri = `${accountUri}/password`
const ofThief = 'password of the thief'
const check = { client: async () => {}, scope: async () => {}, user: async () => {} }

/** The page of the account, with a user in the storage. `during` runs while the hash of the page is computed. */
async function setUp() {
  const storage = memoryDriver()
  const entries = openEntries({ issuer, storage })
  let during = async (): Promise<void> => {}
  const hashes: string[] = []
  const administration = (onHash: () => Promise<void>) =>
    openAdministration({
      entries,
      check,
      async hashPassword(password) {
        await onHash()
        hashes.push(password)
        return quickHash
      },
      revoke: (target) => f.provider.revoke(target),
    })
  const { users } = administration(async () => {}).as({ who: 'admin' })
  const accounts = storedAccounts(() => administration(() => during()))
  const service = configuredUsers([], {
    stored: storedUsers({ entries, cacheFor: 5, renewHash: async () => undefined, now: () => f.clock.now() }),
  })
  const f = await setUpAccount({ account: { accounts, passwords: {} }, provider: { storage, users: service } })
  await users.add({ sub: 'a', username: 'alice', password: quickHash })
  const thief = f.browser()
  await f.enter(thief, await thief.open(accountUri), 'alice', oldPassword)
  const change = async (act: () => Promise<unknown>) => {
    during = async () => {
      await act()
    }
    return f.send(thief, await thief.open(passwordUri), { password: ofThief })
  }
  const versionOf = async () => (await users.show('a')).version
  return { ...f, users, thief, change, versionOf, hashes }
}

type Service = Awaited<ReturnType<typeof setUp>>

describe('on the page of the account', () => {
  test.each<[string, (f: Service) => Promise<unknown>]>([
    ['gets another password', ({ users }) => users.setPassword('a', 'password of the owner')],
    ['is disabled', ({ users }) => users.edit('a', { active: false })],
    ['is revoked', ({ provider }) => provider.revoke({ subject: 'a' })],
  ])('a password is not changed while the user %s', async (_, act) => {
    const f = await setUp()
    let version = ''
    await f.change(async () => {
      await act(f)
      version = await f.versionOf()
    })
    expect(f.hashes).toContain(ofThief)
    expect(await f.versionOf()).toBe(version)
    expect((await f.thief.open(accountUri)).html).not.toContain('id="sessions"')
    expect(f.events.some((event) => event.type === 'account_changed')).toBe(false)
  })

  test.each<[string, (f: Service) => Promise<unknown>]>([
    ['sets another password', ({ users }) => users.setPassword('a', 'password of the owner')],
    ['revokes the user', ({ provider }) => provider.revoke({ subject: 'a' })],
  ])('a change that came too late ends no session since the owner %s', async (_, act) => {
    const f = await setUp()
    const owner = f.browser()
    await f.change(async () => {
      await act(f)
      f.clock.advance(1)
      await f.enter(owner, await owner.open(accountUri), 'alice', oldPassword)
      f.clock.advance(1)
    })
    expect((await owner.open(accountUri)).html).toContain('id="sessions"')
    expect((await f.thief.open(accountUri)).html).not.toContain('id="sessions"')
  })

  test('a password is changed while a user of no concern is revoked', async () => {
    const f = await setUp()
    const before = await f.versionOf()
    const done = await f.change(() => f.provider.revoke({ subject: 'b' }))
    expect(done.html).toContain('id="sessions"')
    expect(await f.versionOf()).not.toBe(before)
  })
})

test('a mailed link sets no password while the user is revoked', async () => {
  const { store, users, authenticate } = memoryAccounts([
    { sub: 'alice', username: 'alice', email: 'alice@example.com', emailVerified: true, password: 'alice-password' },
  ])
  const slow: AccountStore = {
    ...store,
    async change(sub, changes) {
      await f.provider.revoke({ subject: sub })
      return store.change(sub, changes)
    },
  }
  const f = await setUpAccounts({ store: slow }, { provider: { users: { authenticate } } })
  const { ask, browser, submit } = await f.start()
  await ask('forgot', 'alice@example.com')
  const next = await submit(await browser.open(linkIn(await f.lastMail())), { password: ofThief })
  expect(next.html).not.toContain('Signed in as')
  expect(users.get('alice')?.password).toBe('alice-password')
  expect(titleOf((await f.start({}, browser)).page)).toBe('Sign in')
})
