/**
 * Attack: a session that stays for months is worth more to a thief. An attacker makes another user stay signed in, on a
 * computer that is shared, by a form of another site; plants a session that stays in a browser before its user signs in;
 * or keeps a stolen one after the user, or an operator, has ended it.
 *
 * OWASP Session Management; RFC 6265bis section 8.6.
 */
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint, userSessions } from '@grantry/plugins/authorization-endpoint'
import { proofKey } from '@grantry/plugins/proof-key'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { answer, type createBrowser } from '../authorization/browser.ts'
import { ownPages, setUpPages } from '../authorization/own-pages.ts'
import { trustedClients } from '../authorization/parties.ts'
import { nameOf, setUpSignIn } from '../sign-in/parties.ts'
import { withLatency } from '../support/latency.ts'

const cookieName = '__Host-grantry-session'
const ticked = { stay_signed_in: 'yes' }
const sessions = { staySignedIn: { mode: 'checkbox' } } as const
const days = 86_400

async function setUpStay() {
  const f = await setUpSignIn({}, { clients: trustedClients }, { sessions })
  const silently = async (browser: ReturnType<typeof createBrowser>) =>
    answer((await f.start({ prompt: 'none' }, browser)).page)
  /** A browser in which the user stays signed in. */
  const stay = async (username: string, browser = f.browser()) => {
    const { submit } = await f.start({ prompt: 'login' }, browser)
    await submit('signin', { username, password: `${username}-password`, ...ticked })
    expect(browser.attributes.get(cookieName)).toContain('Max-Age')
    return browser
  }
  return { ...f, silently, stay }
}

describe('a form of another site', () => {
  test('makes no user stay signed in: the form token of the attacker begins no session in the browser', async () => {
    const { start } = await setUpStay()
    const attacker = await start()
    const victim = await start()
    const forged = await victim.submit(
      'signin',
      { username: 'bob', password: 'bob-password', ...ticked },
      attacker.page,
    )
    expect(forged.status).toBe(400)
    expect(victim.browser.jar.has(cookieName)).toBe(false)
    const mixed = { ...ticked, form_token: /"form_token":"([^"]+)"/u.exec(attacker.page.html)?.[1] ?? '' }
    const again = await victim.submit('signin', { username: 'alice', password: 'alice-password', ...mixed })
    // Nor does the page that follows have the box ticked.
    expect([nameOf(again), again.html.includes('"staySignedIn":false')]).toEqual(['signIn', true])
    await victim.enter('alice', 'alice-password', again)
    expect(victim.browser.attributes.get(cookieName)).not.toContain('Max-Age')
  })

  test('changes no session that has begun: no other form has the choice', async () => {
    const { start } = await setUpStay()
    const { browser, enter } = await start()
    await enter('alice')
    const before = browser.jar.get(cookieName)
    const consent = await start({ prompt: 'consent' }, browser)
    await consent.submit('consent', { decision: 'allow', ...ticked })
    expect(browser.jar.get(cookieName)).toBe(before)
    expect(browser.attributes.get(cookieName)).not.toContain('Max-Age')
  })
})

describe('a session that stays', () => {
  test('cannot be planted: a sign-in of the same user, or another one, changes it', async () => {
    for (const user of ['alice', 'bob']) {
      const { stay, silently, browser } = await setUpStay()
      const alice = await stay('alice')
      const known = alice.jar.get(cookieName) ?? ''
      await stay(user, alice)
      const attacker = browser()
      attacker.jar.set(cookieName, known)
      expect(await silently(attacker)).toMatchObject({ error: 'login_required' })
      expect(await silently(alice)).toHaveProperty('code')
    }
  })

  test('is not valid for longer because a thief changes the lifetime of its cookie', async () => {
    const { stay, silently, clock } = await setUpStay()
    const thief = await stay('alice')
    clock.advance(30 * days)
    expect(await silently(thief)).toMatchObject({ error: 'login_required' })
  })

  test('has ended after a revocation of the user, for as long as it would have lived', async () => {
    const { stay, silently, provider, clock } = await setUpStay()
    const thief = await stay('alice')
    await provider.revoke({ subject: 'alice' })
    for (const time of [0, 2 * days, 20 * days]) {
      clock.advance(time)
      expect(await silently(thief)).toMatchObject({ error: 'login_required' })
    }
  })

  test('has ended after endAll, for as long as it would have lived, also if it lost its place', async () => {
    const few = { staySignedIn: { mode: 'on' }, maxPerUser: 1 } as const
    const endpoint = authorizationEndpoint({ interaction: ownPages, sessions: few })
    const plugins = [authorizationCode(), proofKey(), refreshToken(), endpoint]
    const f = await setUpPages({}, { plugins, storage: withLatency(memoryDriver()) })
    // All but one of them are in no list.
    const browsers = Array.from({ length: 20 }, () => f.browser())
    await Promise.all(browsers.map((browser) => f.signIn(browser, 'alice')))
    await f.provider.use(userSessions).endAll('alice')
    f.clock.advance(29 * days)
    const silent = await Promise.all(browsers.map((browser) => f.ask(browser, { prompt: 'none' })))
    expect(silent.filter((page) => answer(page).error !== 'login_required')).toEqual([])
  })
})
