/**
 * Attack: an attacker plants a cookie before a user signs in (session fixation), or sets one from a neighboring host
 * (cookie tossing); or uses a session after the user was deactivated; or answers a request that demands a sign-in by an
 * earlier one.
 *
 * RFC 6265bis section 8.6; OpenID Connect Core section 3.1.2.1.
 */
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint, userSessions } from '@grantry/plugins/authorization-endpoint'
import { proofKey } from '@grantry/plugins/proof-key'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { answer, type createBrowser } from '../authorization/browser.ts'
import { ownPages, setUpPages } from '../authorization/own-pages.ts'
import { nameOf, setUpSignIn } from '../sign-in/parties.ts'
import { withLatency } from '../support/latency.ts'

const cookieName = '__Host-grantry-session'
const allow = { decision: 'allow' }

/** A browser in which alice is signed in, and has consented. */
async function signedIn(...options: Parameters<typeof setUpSignIn>) {
  const f = await setUpSignIn(...options)
  const first = await f.start()
  await first.submit('consent', allow, await first.enter('alice'))
  /** The answer to a request that shows no page. */
  const silently = async (browser: ReturnType<typeof createBrowser>, more = {}) =>
    answer((await f.start({ prompt: 'none', ...more }, browser)).page)
  return { ...f, first, alice: first.browser, silently }
}

describe('a session cookie that the attacker knows', () => {
  test.each(['alice', 'bob'])('is not valid after a sign-in of %s', async (user) => {
    const { alice, start, silently, browser } = await signedIn()
    const known = alice.jar.get(cookieName) ?? ''
    const again = await start({ prompt: 'login' }, alice)
    await again.enter(user)
    const attacker = browser()
    attacker.jar.set(cookieName, known)
    expect(await silently(attacker)).toMatchObject({ error: 'login_required' })
    expect(alice.jar.get(cookieName)).not.toBe(known)
    expect(await silently(alice, { scope: 'openid' })).not.toHaveProperty('error', 'login_required')
  })

  test('does not exist before a sign-in: no page and no wrong password sets one', async () => {
    const { start } = await setUpSignIn()
    const { browser, enter, submit, page } = await start()
    await enter('alice', 'wrong')
    await submit('accounts', { account: 'other' }, page)
    expect([...browser.jar.keys()]).toEqual(['__Host-grantry-browser'])
  })

  test('that no one has issued begins no session with its id', async () => {
    const { start, browser } = await setUpSignIn()
    const alice = browser()
    const planted = `${'a'.repeat(43)}.${'b'.repeat(43)}`
    alice.jar.set(cookieName, planted)
    const { enter } = await start({}, alice)
    await enter('alice')
    const [sid, secret] = (alice.jar.get(cookieName) ?? '').split('.')
    expect(sid).toMatch(/^[\w-]{43}$/u)
    expect(planted).not.toContain(sid)
    expect(planted).not.toContain(secret)
  })

  test('with the id of a session and another secret is no session', async () => {
    const { alice, silently, browser } = await signedIn()
    const attacker = browser()
    const [sid = '', secret = ''] = (alice.jar.get(cookieName) ?? '').split('.')
    for (const forged of ['b'.repeat(43), sid, `${secret.slice(0, -1)}${secret.endsWith('A') ? 'B' : 'A'}`]) {
      attacker.jar.set(cookieName, `${sid}.${forged}`)
      expect(await silently(attacker)).toMatchObject({ error: 'login_required' })
    }
    expect(await silently(alice)).toHaveProperty('code')
  })
})

describe('a cookie from a neighboring host', () => {
  test('has another name, because only the host itself sets names with __Host-', async () => {
    const { start } = await setUpSignIn()
    const { enter, browser } = await start()
    const response = await enter('alice')
    expect(response.status).toBe(200)
    expect([...browser.jar.keys()].sort()).toEqual(['__Host-grantry-browser', cookieName])
  })

  test('is no session: with another name, beside the right one, or malformed', async () => {
    const { alice, provider, urlOf } = await signedIn()
    const { alice: foreign } = await signedIn()
    const request = { client_id: 'web', redirect_uri: 'https://client.example.com/callback', response_type: 'code' }
    const url = urlOf({ ...request, scope: 'openid api1', prompt: 'none' })
    const errorWith = async (cookie: string) => {
      const { headers } = await provider.fetch(new Request(url, { headers: { cookie } }))
      expect(headers.getSetCookie()).toEqual([])
      return new URL(headers.get('location') ?? '').searchParams.get('error')
    }
    const value = alice.jar.get(cookieName) ?? ''
    const right = `${cookieName}=${value}`
    const tossed = `${cookieName}=${foreign.jar.get(cookieName)}`
    expect(await errorWith(`a=b; ${right}; c=d`)).toBeNull()
    for (const cookie of [
      `grantry-session=${value}`,
      `__host-grantry-session=${value}`,
      `__Secure-grantry-session=${value}`,
      `${right}; ${tossed}`,
      `${tossed}; ${right}`,
      `${right}; ${right}`,
      `${cookieName}=; ${right}`,
      `${right}x`,
      `${cookieName}="${value}"`,
      `${cookieName}=${value.replace('.', '%2E')}`,
      `${cookieName}= ${value}`,
      `${cookieName}=__proto__.constructor`,
      `${cookieName}=${'x'.repeat(60_000)}`,
    ]) {
      expect(await errorWith(cookie), cookie.slice(0, 200)).toBe('login_required')
    }
  })
})

describe('a request that demands a sign-in', () => {
  test.each([{ prompt: 'login' }, { max_age: '0' }])(
    'is not answered by a session of the same second: %o',
    async (demand) => {
      const { alice, start, silently } = await signedIn()
      if ('max_age' in demand) expect(await silently(alice, demand)).toMatchObject({ error: 'login_required' })
      const again = await start(demand, alice)
      expect(nameOf(again.page)).toBe('signIn')
      expect(answer(await again.enter('alice'))).toHaveProperty('code')
    },
  )

  test.each([{ prompt: 'login' }, { max_age: '0' }])(
    'is not answered by a sign-in for another request: %o',
    async (demand) => {
      const { alice, start, provider } = await signedIn()
      const [first, second] = [await start(demand, alice), await start(demand, alice)]
      await first.enter('alice')
      const id = /"interaction":"([\w-]+)"/u.exec(second.page.html)?.[1]
      const resumed = await alice.open(`${provider.issuer}/connect/authorize/resume?interaction=${id}`)
      expect(nameOf(resumed)).toBe('signIn')
      // The back button: the form of the answered request is sent again.
      const replayed = await first.enter('alice')
      expect([replayed.status, replayed.headers.get('location')]).toEqual([400, null])
    },
  )
})

describe('a user who is deactivated', () => {
  async function setUpDeactivation() {
    const inactive = new Set<string>()
    const users = {
      authenticate: ({ username, password }: { username: string; password: string }) =>
        password === `${username}-password` && !inactive.has(username) ? { sub: username } : undefined,
      isActive: (sub: string) => !inactive.has(sub),
    }
    return { ...(await signedIn({}, { users })), inactive }
  }

  test('gets no code by a session', async () => {
    const { alice, inactive, silently, start } = await setUpDeactivation()
    expect(await silently(alice)).toHaveProperty('code')
    inactive.add('alice')
    expect(await silently(alice)).toMatchObject({ error: 'login_required' })
    const { page, enter } = await start({}, alice)
    expect(nameOf(page)).toBe('signIn')
    expect((await enter('alice')).html).toContain('wrong_credentials')
    expect(nameOf(await enter('bob'))).toBe('consent')
  })

  test('gets no code by a page that was open', async () => {
    const { alice, inactive, start } = await setUpDeactivation()
    const open = await start({ prompt: 'consent' }, alice)
    const choice = await start({ prompt: 'select_account' }, alice)
    inactive.add('alice')
    expect(nameOf(await open.submit('consent', allow))).toBe('signIn')
    const sid = /"id":"([\w-]+)"/u.exec(choice.page.html)?.[1] ?? ''
    expect(nameOf(await choice.submit('accounts', { account: sid }))).toBe('signIn')
  })
})

describe('a session that an attacker has begun with a stolen password', () => {
  test('gives no code after a revocation of the user: neither its cookie nor an open page', async () => {
    const { alice, start, silently, provider } = await signedIn()
    const open = await start({ prompt: 'consent' }, alice)
    await provider.revoke({ subject: 'bob' })
    expect(await silently(alice)).toHaveProperty('code')
    await provider.revoke({ subject: 'alice' })
    expect(await silently(alice)).toMatchObject({ error: 'login_required' })
    expect(nameOf(await open.submit('consent', allow))).toBe('signIn')
    expect(nameOf((await start({}, alice)).page)).toBe('signIn')
  })

  test('does not prevent that the user signs in again, and stays signed in until the next revocation', async () => {
    const { alice, start, silently, provider, browser } = await signedIn()
    await provider.revoke({ subject: 'alice' })
    const victim = browser()
    const again = await start({}, victim)
    // The revocation also forgets the consent.
    await again.submit('consent', allow, await again.enter('alice'))
    expect(await silently(victim)).toHaveProperty('code')
    expect(await silently(alice)).toMatchObject({ error: 'login_required' })
    await provider.revoke({ subject: 'alice' })
    expect(await silently(victim)).toMatchObject({ error: 'login_required' })
  })
})

test('a thief cannot hide a session from endAll by signing in often at the same moment', async () => {
  const endpoint = authorizationEndpoint({ interaction: ownPages })
  const plugins = [authorizationCode(), proofKey(), refreshToken(), endpoint]
  const f = await setUpPages({}, { plugins, storage: withLatency(memoryDriver()) })
  const browsers = Array.from({ length: 80 }, () => f.browser())
  await Promise.all(browsers.map((browser) => f.signIn(browser, 'alice')))
  await f.provider.use(userSessions).endAll('alice')
  const silent = await Promise.all(browsers.map((browser) => f.ask(browser, { prompt: 'none' })))
  expect(silent.filter((page) => answer(page).error !== 'login_required')).toEqual([])
  await f.signIn(browsers[0] ?? f.browser(), 'alice')
  expect(answer(await f.ask(browsers[0] ?? f.browser(), { prompt: 'none' }))).toHaveProperty('code')
})
