/**
 * Attack: a thief of a session, or of a mailed link, sends a new password while its owner, or an administrator, acts against
 * the thief. The act comes before any one of the storage calls of the thief's request, and has to win: the thief's password
 * replaces no later one and does not count after a revocation, and no session, code or refresh token of the thief is left.
 *
 * OWASP ASVS 5.0 sections 6.3 and 7.4; docs/decisions/0022-revocation-by-epochs.md.
 */
import { scryptSync } from 'node:crypto'
import { openAdministration, storedUsers } from '@grantry/administration'
import { openEntries } from '@grantry/core'
import { createAccountPages } from '@grantry/pages/account'
import { createSelfServicePages } from '@grantry/pages/self-service'
import { accountPage } from '@grantry/plugins/account'
import { userSessions } from '@grantry/plugins/authorization-endpoint'
import { type MailMessage, selfService } from '@grantry/plugins/self-service'
import { signIn } from '@grantry/plugins/sign-in'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { expect, test } from 'vitest'
import { storedAccounts } from '../../packages/server/src/accounts/stored-accounts.ts'
import { configuredUsers } from '../../packages/server/src/users/configured-users.ts'
import { password as oldPassword, quickHash } from '../administration/stored-user-setting.ts'
import { answer, hiddenFields, type Page } from '../authorization/browser.ts'
import { challenge, redirectUri, request, setUp, trustedClients, verifier, web } from '../authorization/parties.ts'
import { actionOf, codeIn, linkIn, linkOf, pages } from '../self-service/parties.ts'
import { atEachCall, interruptible } from '../support/interrupted.ts'

const issuer = 'https://id.example.com'
const ofThief = 'password of the thief'
const ofOwner = 'password of the owner'
const check = { client: async () => {}, scope: async () => {}, user: async () => {} }
const unpadded = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64').replace(/=+$/u, '')

/** Little work, and the same hash each time. */
const hashOf = (password: string): string => {
  const salt = 'salt of a test..'
  return `$scrypt$ln=4,r=8,p=1$${unpadded(Buffer.from(salt))}$${unpadded(scryptSync(password, salt, 32, { N: 16, r: 8, p: 1 }))}`
}

async function setUpService() {
  const driver = interruptible(memoryDriver())
  const { storage } = driver
  const entries = openEntries({ issuer, storage })
  const administration = () =>
    openAdministration({
      entries,
      check,
      hashPassword: async (password) => hashOf(password),
      revoke: (target) => f.provider.revoke(target),
    })
  const store = storedAccounts(administration)
  const mails: MailMessage[] = []
  const mailer = { send: (mail: MailMessage) => void mails.push(mail) }
  const limits = { perAddress: 1000, perNetwork: 100_000 }
  const way = selfService({
    store,
    mailer,
    limits,
    pages: createSelfServicePages({ locales: ['en'], host: 'id.example.com' }),
  })
  const account = accountPage({ pages: createAccountPages({ locales: ['en'] }), accounts: store, passwords: {} })
  const stored = storedUsers({ entries, cacheFor: 5, renewHash: async () => undefined, now: () => f.clock.now() })
  const f = await setUp(
    signIn({ pages, ways: [way] }),
    { pages, features: [account] },
    { clients: trustedClients, storage, users: configuredUsers([], { stored }) },
  )
  const { users } = administration().as({ who: 'admin' })
  const asked = (more = {}) =>
    f.urlOf({
      ...request,
      scope: 'openid api1 offline_access',
      code_challenge: challenge,
      code_challenge_method: 'S256',
      ...more,
    })
  let added = 0
  /** Another user each time, whose session a thief has. */
  async function victim() {
    added += 1
    const sub = `user-${added}`
    const email = `${sub}@example.com`
    await users.add({ sub, username: sub, password: quickHash, claims: { email, email_verified: true } })
    const browser = f.browser()
    const submit = (page: Page, fields: Readonly<Record<string, string>>) =>
      browser.submit(actionOf(page) || page.url.href, { ...hiddenFields(page), ...fields })
    return { sub, email, browser, submit }
  }
  const redeemed = async (code: string) =>
    (
      await f.post(
        'token',
        { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier },
        web,
      )
    ).body
  return { ...f, driver, users, asked, victim, mails, redeemed }
}

type Service = Awaited<ReturnType<typeof setUpService>>
type Victim = Awaited<ReturnType<Service['victim']>>

const signInAs = async ({ sub, browser, submit }: Victim) =>
  submit(await browser.open(`${issuer}/account`), { username: sub, password: oldPassword })

async function mailed({ asked, mails, provider }: Service, { email, browser, submit }: Victim) {
  await submit(await browser.open(linkOf(await browser.open(asked()), 'forgot')), { address: email })
  await provider.runTasks()
  return mails.at(-1) ?? { text: '' }
}

/** The ways to set a password: each returns the last request of the thief. */
const ways: Readonly<Record<string, (f: Service, victim: Victim) => Promise<() => Promise<Page>>>> = {
  async 'the account page'(_, victim) {
    await signInAs(victim)
    const page = await victim.browser.open(`${issuer}/account/password`)
    return () => victim.submit(page, { password: ofThief })
  },
  async 'a mailed link'(f, victim) {
    const page = await victim.browser.open(linkIn(await mailed(f, victim)))
    return () => victim.submit(page, { password: ofThief })
  },
  async 'a mailed code'(f, victim) {
    const { browser, submit, email } = victim
    const sent = await submit(await browser.open(linkOf(await browser.open(f.asked()), 'forgot')), { address: email })
    await f.provider.runTasks()
    const page = await submit(sent, { code: codeIn(f.mails.at(-1) ?? { text: '' }) })
    return () => submit(page, { password: ofThief })
  },
}

/** What ends access, and what the password is afterwards if it sets one. */
const acts: Readonly<Record<string, (f: Service, victim: Victim) => Promise<unknown>>> = {
  'an administrator sets a password': ({ users }, { sub }) => users.setPassword(sub, ofOwner),
  'the user is disabled': ({ users }, { sub }) => users.edit(sub, { active: false }),
  'the user is removed': ({ users }, { sub }) => users.remove(sub),
  'the user is revoked': ({ provider }, { sub }) => provider.revoke({ subject: sub }),
  'another form changes the account, and the user is revoked': async ({ provider, users }, { sub }) => {
    const { claims } = (await users.show(sub)).value
    await users.edit(sub, { claims: { ...claims, given_name: 'Thief' } })
    await provider.revoke({ subject: sub })
  },
  'all sessions end': ({ provider }, { sub }) => provider.use(userSessions).endAll(sub),
}

/** Whether a change of the password was reported. */
const succeeded = ({ events }: Service, sub: string): boolean =>
  events.some(
    (event) =>
      'sub' in event &&
      event.sub === sub &&
      (event.type === 'password_changed' || (event.type === 'account_changed' && event.change === 'password_changed')),
  )

/** Returns what the thief has left. */
async function gains(f: Service, { sub, browser }: Victim, done: Page, passwordThen: string | undefined, act: string) {
  // The change came before the act as a whole only if the request has succeeded: then its owner gets a mail about it.
  const isBefore = passwordThen === hashOf(ofThief) && succeeded(f, sub)
  const passwordNow = (await f.users.has(sub)) ? (await f.users.show(sub)).value.password : undefined
  const { error } = answer(await browser.open(f.asked({ prompt: 'none' })))
  const { code } = answer(done)
  const tokens = code === undefined ? {} : await f.redeemed(code)
  return [
    ...(passwordNow === hashOf(ofThief) && !isBefore ? ['password'] : []),
    ...(error === 'login_required' ? [] : ['session']),
    // The end of sessions is no revocation: what was issued to applications stays.
    ...('access_token' in tokens && !act.includes('sessions') ? ['code'] : []),
  ]
}

/** All calls of two cases, and a part of the calls of each other one. */
const cases = Object.keys(ways).flatMap((way, row) =>
  Object.keys(acts).map((act, column) => {
    const isWhole = row === 0 && /sets|revoked/u.test(act)
    return [way, act, isWhole ? {} : { first: (row + 2 * column) % 6, step: 6 }] as const
  }),
)

test.each(cases)('by %s, a thief gains nothing when %s before any call of the storage', async (way, act, part) => {
  const f = await setUpService()
  const outcomes = await atEachCall(async (calls) => {
    const victim = await f.victim()
    const send = await ways[way]?.(f, victim)
    let passwordThen: string | undefined
    const done = await f.driver.during(
      calls,
      async () => {
        await acts[act]?.(f, victim)
        passwordThen = (await f.users.has(victim.sub)) ? (await f.users.show(victim.sub)).value.password : undefined
      },
      async () => send?.(),
    )
    if (done === undefined) return undefined
    const left = await gains(f, victim, done, passwordThen, act)
    return left.length === 0 ? 'nothing' : `${left.join(' and ')} after call ${calls}`
  }, part)
  expect(outcomes.length).toBeGreaterThan(10)
  expect(outcomes.filter((outcome) => outcome !== 'nothing')).toEqual([])
})
