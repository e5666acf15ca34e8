/**
 * Attack: a thief of a session proves an own address, while its owner, or an administrator, acts against the thief. The act
 * comes before any one of the storage calls of the request, and has to win: by the address, the thief would recover the
 * account afterwards.
 *
 * OWASP ASVS 5.0 sections 6.3 and 7.4; docs/decisions/0022-revocation-by-epochs.md.
 */
import { openAdministration, storedUsers } from '@grantry/administration'
import { openEntries } from '@grantry/core'
import { userSessions } from '@grantry/plugins/authorization-endpoint'
import type { AccountStore } from '@grantry/plugins/self-service'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { expect, test } from 'vitest'
import { storedAccounts } from '../../packages/server/src/accounts/stored-accounts.ts'
import { configuredUsers } from '../../packages/server/src/users/configured-users.ts'
import { codeUri, setUpAddress } from '../account/addresses.ts'
import { accountUri, issuer, setUpAccount } from '../account/parties.ts'
import { password, quickHash } from '../administration/stored-user-setting.ts'
import { hiddenFields } from '../authorization/browser.ts'
import { codeIn, memoryAccounts } from '../self-service/parties.ts'
import { atEachCall, interruptible } from '../support/interrupted.ts'

const ofThief = 'thief@evil.example'
const check = { client: async () => {}, scope: async () => {}, user: async () => {} }

async function setUpService() {
  const driver = interruptible(memoryDriver())
  const entries = openEntries({ issuer, storage: driver.storage })
  const administration = () =>
    openAdministration({
      entries,
      check,
      hashPassword: async () => quickHash,
      revoke: (target) => f.provider.revoke(target),
    })
  const mails: string[] = []
  const limits = { perAddress: 1000, perNetwork: 100_000 }
  const stored = storedUsers({ entries, cacheFor: 5, renewHash: async () => undefined, now: () => f.clock.now() })
  const f = await setUpAccount({
    account: {
      accounts: storedAccounts(administration),
      mailer: { send: ({ text }) => void mails.push(text) },
      mailLimits: limits,
    },
    provider: { storage: driver.storage, users: configuredUsers([], { stored }) },
  })
  return { ...f, driver, mails, users: administration().as({ who: 'admin' }).users }
}

type Service = Awaited<ReturnType<typeof setUpService>>

const acts: Readonly<Record<string, (f: Service, sub: string) => Promise<unknown>>> = {
  'the user is revoked': ({ provider }, sub) => provider.revoke({ subject: sub }),
  'another form changes the account, and the user is revoked': async ({ provider, users }, sub) => {
    const { claims } = (await users.show(sub)).value
    await users.edit(sub, { claims: { ...claims, given_name: 'Thief' } })
    await provider.revoke({ subject: sub })
  },
  'all sessions end': ({ provider }, sub) => provider.use(userSessions).endAll(sub),
  'an administrator sets a password': ({ users }, sub) => users.setPassword(sub, 'password of the owner'),
  'the user is disabled': ({ users }, sub) => users.edit(sub, { active: false }),
}

const emailOf = (sub: string): string => `${sub}@example.com`

/** What the page reports after a change. */
const reported = 'Your email address was changed.'

/** How the user signs in, and the address before. */
const users = {
  'with the name': (sub: string) => ({ username: sub, email: emailOf(sub) }),
  'with the address': (sub: string) => ({ username: emailOf(sub), email: emailOf(sub) }),
  'without an address': (sub: string) => ({ username: sub, email: undefined }),
}

const cases = Object.keys(acts).flatMap((act) =>
  Object.entries(users).map(([who, userOf]) => [act, who, userOf] as const),
)

test.each(cases)('a thief takes no account over when %s before any call, of a user %s', async (act, _who, userOf) => {
  const f = await setUpService()
  const outcomes = await atEachCall(async (calls) => {
    const sub = `user-${calls}`
    const { username, email } = userOf(sub)
    const claimed = email === undefined ? {} : { claims: { email, email_verified: true } }
    await f.users.add({ sub, username, password: quickHash, ...claimed })
    const browser = f.browser()
    await f.enter(browser, await browser.open(accountUri), username, password)
    const page = await f.send(browser, await browser.open(`${accountUri}/email`), { address: ofThief })
    await f.provider.runTasks()
    const code = codeIn({ text: f.mails.at(-1) ?? '' })
    let emailThen: unknown
    const done = await f.driver.during(
      calls,
      async () => {
        await acts[act]?.(f, sub)
        emailThen = (await f.users.show(sub)).value.claims?.email
      },
      async () => browser.submit(codeUri, { ...hiddenFields(page), code }),
    )
    const { value } = await f.users.show(sub)
    // The next attempt takes the address, too.
    await f.users.remove(sub)
    if (done === undefined) return value.claims?.email === ofThief ? undefined : 'the request itself fails'
    const { username: name, claims } = value
    // The change came before the act as a whole only if the page has reported it: then its owner gets a mail about it.
    const isReported = done.html.includes(reported)
    if (claims?.email === emailThen && (emailThen !== ofThief || isReported || claims?.email_verified === false)) {
      return 'nothing'
    }
    const isRestored = email === undefined ? claims?.email_verified === false : claims?.email === email
    return isRestored && name === username && claims?.email_verified === (email !== undefined)
      ? 'nothing'
      : `call ${calls}`
  })
  expect(outcomes.length).toBeGreaterThan(20)
  expect(outcomes.filter((outcome) => outcome !== 'nothing')).toEqual([])
})

test('a thief takes no account over when the storage stops responding after the write', async () => {
  const driver = memoryDriver()
  let addressNow = (): string | undefined => undefined
  const storage = new Proxy(driver, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      return async (...values: readonly unknown[]) => {
        if (addressNow() === ofThief) throw new Error('The storage does not respond')
        return method.apply(target, values)
      }
    },
  })
  const f = await setUpAddress({}, { provider: { storage } })
  addressNow = () => f.users.get('alice')?.email
  const { browser } = await f.signedIn()
  const page = await f.ask(browser, ofThief)
  const [mail] = await f.mailsTo(ofThief)
  const { status } = await browser.submit(codeUri, { ...hiddenFields(page), code: codeIn(mail ?? { text: '' }) })
  expect([status, addressNow()]).toEqual([503, 'alice@example.com'])
})

test('an owner keeps the name when an address is taken back, where one column has both', async () => {
  let revoke = async (): Promise<unknown> => undefined
  const { store, users: stored } = memoryAccounts([{ sub: 'ann', username: 'ann', emailVerified: false }])
  const accounts: AccountStore = {
    ...store,
    async change(sub, changes) {
      const { email, username = email } = changes
      const both = username === undefined ? {} : { email: username, username }
      const changed = await store.change(sub, { ...changes, ...both })
      await revoke()
      return changed
    },
  }
  const mails: string[] = []
  const f = await setUpAccount({
    account: { accounts, mailer: { send: ({ text }) => void mails.push(text) } },
    provider: { users: { authenticate: ({ username }) => ({ sub: username }), claims: () => ({}) } },
  })
  const { browser } = await f.signedIn('ann')
  const page = await f.send(browser, await browser.open(`${accountUri}/email`), { address: ofThief })
  await f.provider.runTasks()
  revoke = () => f.provider.revoke({ subject: 'ann' })
  await browser.submit(codeUri, { ...hiddenFields(page), code: codeIn({ text: mails.at(-1) ?? '' }) })
  const { username, emailVerified } = stored.get('ann') ?? {}
  expect([username, emailVerified]).toEqual(['ann', false])
})
