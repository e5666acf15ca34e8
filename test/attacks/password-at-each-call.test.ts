/**
 * Attack: a thief of a session, or of a mailed link, sends a new password while its owner, or an administrator, acts against
 * the thief. The act comes before any one of the storage calls of the thief's request, and has to win: the thief's password
 * replaces no later one and does not count after a revocation, and no session, code or refresh token of the thief is left, also
 * none that the thief got before.
 *
 * OWASP ASVS 5.0 sections 6.3 and 7.4; docs/decisions/0022-revocation-by-epochs.md.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { email, type Open, openStored, sqlOpener, sub } from '../account/stolen-accounts.ts'
import { password as oldPassword } from '../administration/stored-user-setting.ts'
import { answer, hiddenFields, type Page } from '../authorization/browser.ts'
import { challenge, redirectUri, request, verifier, web } from '../authorization/parties.ts'
import { actionOf, linkIn, linkOf } from '../self-service/parties.ts'
import { atEachCall } from '../support/interrupted.ts'

const issuer = 'https://id.example.com'
const ofThief = 'password of the thief'

const directory = mkdtempSync(join(tmpdir(), 'grantry-password-'))
afterAll(() => rmSync(directory, { recursive: true }))

const places: Readonly<Record<string, Open>> = {
  'the storage': openStored,
  'a table': sqlOpener(join(directory, 'users.db')),
}

type Service = Awaited<ReturnType<Open>>
type Browser = ReturnType<Service['browser']>

const asked = ({ urlOf }: Service, more = {}) =>
  urlOf({
    ...request,
    scope: 'openid api1 offline_access',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...more,
  })
const submit = (browser: Browser, page: Page, fields: Readonly<Record<string, string>>) =>
  browser.submit(actionOf(page) || page.url.href, { ...hiddenFields(page), ...fields })
const signInAt = async (browser: Browser, url: string) =>
  submit(browser, await browser.open(url), { username: sub, password: oldPassword })

async function redeemed({ post }: Service, code: string) {
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier }
  return (await post('token', form, web)).body
}

async function mailed(f: Service, browser: Browser) {
  await submit(browser, await browser.open(linkOf(await browser.open(asked(f)), 'forgot')), { address: email })
  await f.provider.runTasks()
  return f.mails.at(-1) ?? { text: '' }
}

/** The ways to set a password: each returns the page on which the thief does. After a mailed code, it is that of a link. */
const ways: Readonly<Record<string, (f: Service, browser: Browser) => Promise<Page>>> = {
  async 'the account page'(_, browser) {
    await signInAt(browser, `${issuer}/account`)
    return browser.open(`${issuer}/account/password`)
  },
  'a mailed link': async (f, browser) => browser.open(linkIn(await mailed(f, browser))),
}

/** What the thief has before the last request. It is the same for all acts. */
async function prepare(place: string, way: string) {
  const items = new Map<string, string>()
  const f = (await places[place]?.(items)) as Service
  await f.add()
  const { code = '' } = answer(await signInAt(f.browser(), asked(f)))
  const { refresh_token: refreshToken } = await redeemed(f, code)
  const browser = f.browser()
  const page = (await ways[way]?.(f, browser)) as Page
  return { items, refreshToken, jar: [...browser.jar], page }
}
const prepared = new Map<string, ReturnType<typeof prepare>>()

/** Whether a change of the password was reported. */
const succeeded = ({ events }: Service): boolean =>
  events.some(
    (event) =>
      event.type === 'password_changed' || (event.type === 'account_changed' && event.change === 'password_changed'),
  )

/** Returns what the thief has left. */
async function gains(f: Service, browser: Browser, done: Page, refreshToken: string, hadOther: boolean, act: string) {
  // The change came before the act as a whole only if the request has succeeded: then its owner gets a mail about it.
  const isBefore = hadOther && succeeded(f)
  const hasOther = await f.hasOther()
  const { error } = answer(await browser.open(asked(f, { prompt: 'none' })))
  const { code } = answer(done)
  const tokens = code === undefined ? {} : await redeemed(f, code)
  const refreshed = await f.post('token', { grant_type: 'refresh_token', refresh_token: refreshToken }, web)
  // The end of sessions is no revocation: what was issued to applications stays.
  const endsTokens = !act.includes('sessions')
  return [
    ...(hasOther && !isBefore ? ['password'] : []),
    ...(error === 'login_required' ? [] : ['session']),
    ...('access_token' in tokens && endsTokens ? ['code'] : []),
    ...(refreshed.status === 200 && endsTokens ? ['refresh token'] : []),
  ]
}

const acts = [
  'an administrator sets a password',
  'the user is disabled',
  'the user is removed',
  'the user is revoked',
  'another form changes the account, and the user is revoked',
  'all sessions end',
] as const
/** The acts take turns: each call is tried with one of them. 1 tries every call with every act, in some CPU minutes. */
const step = acts.length
/** The first call that differs from those with an account in the storage: a hash for a table takes most of the time. */
const firstOf: Readonly<Record<string, number>> = { 'the storage': 0, 'a table': 24 }
const cases = Object.entries(firstOf).flatMap(([place, start]) =>
  Object.keys(ways).flatMap((way) => acts.map((act, turn) => [place, way, act, start + turn] as const)),
)

test.each(cases)('in %s, by %s, a thief gains nothing when %s before any call', async (place, way, act, first) => {
  const name = `${place} ${way}`
  const before = prepared.get(name) ?? prepare(place, way)
  prepared.set(name, before)
  const { items, refreshToken, jar, page } = await before
  const outcomes = await atEachCall(
    async (calls) => {
      const f = (await places[place]?.(new Map(items))) as Service
      if (place === 'a table') await f.add()
      const browser = f.browser()
      for (const [cookie, value] of jar) browser.jar.set(cookie, value)
      let hadOther = false
      const done = await f.during(
        calls,
        async () => {
          await f.acts[act]()
          hadOther = await f.hasOther()
        },
        () => submit(browser, page, { password: ofThief }),
      )
      if (done === undefined) return undefined
      const left = await gains(f, browser, done, refreshToken, hadOther, act)
      return left.length === 0 ? 'nothing' : `${left.join(' and ')} after call ${calls}`
    },
    { first, step },
  )
  expect(outcomes.length).toBeGreaterThan(5)
  expect(outcomes.filter((outcome) => outcome !== 'nothing')).toEqual([])
})
