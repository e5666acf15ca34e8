/**
 * Attack: an attacker sends a victim a link or a form for the logout, so that the victim is signed out unasked (CSRF), a
 * page of the attacker follows (open redirect), or a page of the provider runs script. Or the attacker uses the browser
 * after a logout: the back button, a page that is still open, the cookie from a backup.
 *
 * OpenID Connect RP-Initiated Logout 1.0 section 6; RFC 9700 section 4.11.
 */
import { describe, expect, test } from 'vitest'
import { answer, hiddenFields } from '../authorization/browser.ts'
import { bye, clients, kindOf, reasonOf, setUpLogout } from '../end-session/parties.ts'
import { kitOf, offerKit } from '../support/kit-of.ts'

const evil = [
  'https://evil.example',
  '//evil.example',
  'https:evil.example',
  'https:\\\\evil.example',
  `${bye}.evil.example`,
  'https://client.example.com@evil.example/bye',
  'https://evil.example\\@client.example.com/bye',
  `${bye}/../../evil`,
  `${bye}?next=https://evil.example`,
  `${bye}#@evil.example`,
  `${bye}/`,
  'http://client.example.com/bye',
  'HTTPS://CLIENT.EXAMPLE.COM/bye',
  ` ${bye}`,
  `${bye}\r\nLocation: https://evil.example`,
  `${bye}\0`,
  'javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
]

const names = ['id_token_hint', 'logout_hint', 'client_id', 'post_logout_redirect_uri', 'state', 'ui_locales']

test.each(names)('%s never leads to another site', async (name) => {
  const { signedIn, logout } = await setUpLogout()
  for (const value of evil) {
    const { browser, hint } = await signedIn()
    const fields = { id_token_hint: hint, post_logout_redirect_uri: bye, [name]: value }
    for (const parameters of [fields, { [name]: value }, { client_id: 'web', [name]: value }]) {
      const location = (await logout(browser, parameters)).headers.get('location')
      if (location !== null) expect(new URL(location).origin + new URL(location).pathname).toBe(bye)
      if (name === 'post_logout_redirect_uri') expect(location).toBeNull()
    }
  }
})

test('a form of another site that states it was sent again shows no end of a logout', async () => {
  const { provider, signedIn, logoutByPost, isSignedIn } = await setUpLogout()
  const { browser, hint } = await signedIn()
  const resendingPage = await logoutByPost(browser, { state: 's'.repeat(4000) })
  for (const resent of ['1', hiddenFields(resendingPage).resent ?? '']) {
    for (const fields of [{}, { id_token_hint: hint }, { state: 's'.repeat(4000) }, { decision: 'stay' }]) {
      // Browsers send no cookie with a form of another site.
      const body = new URLSearchParams({ ...fields, resent })
      const response = await provider.fetch(
        new Request(`${provider.issuer}/connect/endsession`, { method: 'POST', body }),
      )
      const html = await response.text()
      expect(html).not.toMatch(/id="signed-out"|id="still-signed-in"/u)
      expect(response.status === 303 || html.includes('id="logout"')).toBe(true)
    }
  }
  expect(await isSignedIn(browser)).toBe(true)
})

test('a checked hint in a URL is worth nothing after a minute, or changed', async () => {
  const { provider, signedIn, logout, isSignedIn, clock } = await setUpLogout()
  const { browser, hint } = await signedIn()
  const body = new URLSearchParams({ id_token_hint: hint })
  const { headers } = await provider.fetch(
    new Request(`${provider.issuer}/connect/endsession`, { method: 'POST', body }),
  )
  const { searchParams } = new URL(headers.get('location') ?? '')
  const checked = searchParams.get('checked_hint') ?? ''
  expect(kindOf(await logout(browser, { checked_hint: `${checked}x` }))).toBe('question')
  clock.advance(60)
  expect(kindOf(await logout(browser, { checked_hint: checked }))).toBe('question')
  expect(await isSignedIn(browser)).toBe(true)
})

test.each(names)('%s runs no script on a page', async (name) => {
  const { signedIn, logout, logoutByPost } = await setUpLogout()
  const { browser } = await signedIn()
  const markup = `"><script>alert(1)</script><img src=x onerror='alert(1)'>`
  for (const value of [markup, `${markup}${'a'.repeat(900)}`]) {
    for (const page of [
      await logout(browser, { [name]: value }),
      await logoutByPost(browser, { [name]: value, client_id: 'web' }),
      await logoutByPost(browser, { [name]: value, resent: value, decision: value }),
    ]) {
      expect(page.html).not.toMatch(/<script>alert|<img src=x/u)
      const policy = page.headers.get('content-security-policy') ?? ''
      expect(policy).not.toMatch(/unsafe/u)
      // Only the script of all pages, which contains nothing of the request.
      expect(policy.match(/script-src [^;]*/u)?.[0] ?? '').toMatch(/^(?:script-src 'sha256-[A-Za-z\d+/]{43}=')?$/u)
    }
  }
})

test('a page that sends a long form again shows no markup of its fields', async () => {
  const { logoutByPost, browser, signedIn } = await setUpLogout()
  const { hint } = await signedIn()
  const state = `"><script>alert(1)</script>${'a'.repeat(3900)}`
  const { html, url } = await logoutByPost(browser(), { id_token_hint: hint, post_logout_redirect_uri: bye, state })
  expect(url.pathname).toBe('/connect/endsession')
  expect(html).toContain('&lt;script&gt;')
  expect(html).not.toContain('<script>alert')
})

describe('a logout that the victim did not want', () => {
  test('needs more than a link: without a hint of the session, the victim is asked', async () => {
    const { signedIn, logout, isSignedIn } = await setUpLogout()
    const victim = await signedIn('alice')
    const attacker = await signedIn('mallory')
    for (const parameters of [{}, { client_id: 'web' }, { id_token_hint: attacker.hint }, { resent: '1' }]) {
      expect(kindOf(await logout(victim.browser, { ...parameters, decision: 'logout' }))).toBe('question')
    }
    expect(await isSignedIn(victim.browser)).toBe(true)
  })

  test('is not possible with a form token of the attacker, an old one, or none', async () => {
    const { signedIn, logout, decide, provider, isSignedIn } = await setUpLogout()
    const victim = await signedIn('alice')
    const attacker = await signedIn('mallory')
    const ofAttacker = await logout(attacker.browser)
    expect(kindOf(await decide(victim.browser, ofAttacker, 'logout'))).toBe('question')
    for (const form_token of ['', 'x', hiddenFields(ofAttacker).form_token?.slice(0, -4) ?? '']) {
      const page = await victim.browser.submit(`${provider.issuer}/connect/endsession/confirm`, {
        form_token,
        decision: 'logout',
      })
      expect([page.status, kindOf(page), reasonOf(page)]).toEqual([400, 'error', 'interaction_unknown'])
    }
    expect(await isSignedIn(victim.browser)).toBe(true)
  })

  test('is not possible with a sealed value of another purpose', async () => {
    const plugin = 'authorization-endpoint'
    const { signedIn, provider, isSignedIn } = await setUpLogout({}, [{ parts: () => [offerKit(plugin)] }])
    const { browser } = await signedIn()
    const [sid] = browser.jar.get('__Host-grantry-session')?.split('.') ?? []
    const kit = kitOf(provider, plugin)
    const submit = async (purpose: string) => {
      const form_token = await kit.seal({ purpose, sid: sid ?? '', params: {} }, kit.now() + 60)
      return browser.submit(`${provider.issuer}/connect/endsession/confirm`, { form_token, decision: 'logout' })
    }
    expect(reasonOf(await submit('logout return'))).toBe('interaction_unknown')
    expect(await isSignedIn(browser)).toBe(true)
    expect(kindOf(await submit('logout'))).toBe('signed out')
  })

  test('is not possible with a form that another site sends', async () => {
    const { provider, signedIn, logout, isSignedIn } = await setUpLogout()
    const victim = await signedIn('alice')
    const question = await logout(victim.browser)
    // With SameSite=Lax, the browser sends no cookie. It obeys a cookie that the response sets or deletes.
    for (const [path, fields] of [
      ['confirm', { ...hiddenFields(question), decision: 'logout' }],
      ['', { resent: '1', id_token_hint: victim.hint }],
    ] as const) {
      const response = await provider.fetch(
        new Request(`${provider.issuer}/connect/endsession${path && `/${path}`}`, {
          method: 'POST',
          body: new URLSearchParams(fields),
        }),
      )
      expect([response.status, response.headers.getSetCookie()]).toEqual([303, []])
      expect(response.headers.get('location')).toContain(`${provider.issuer}/connect/endsession`)
    }
    expect(await isSignedIn(victim.browser)).toBe(true)
  })

  test('is not possible after another sign-in in the same browser', async () => {
    const { signedIn, ask, submit, logout, decide, isSignedIn } = await setUpLogout()
    const { browser } = await signedIn('alice')
    const question = await logout(browser)
    await submit(browser, await ask(browser, { prompt: 'login' }), { username: 'bob' })
    expect(kindOf(await decide(browser, question, 'logout'))).toBe('question')
    expect(await isSignedIn(browser)).toBe(true)
  })

  test('a form token is used for the request that was shown, and expires', async () => {
    const { provider, signedIn, logout, clock, isSignedIn } = await setUpLogout()
    const { browser } = await signedIn('alice')
    const question = await logout(browser)
    const fields = { ...hiddenFields(question), post_logout_redirect_uri: 'https://evil.example', client_id: 'web' }
    clock.advance(1801)
    const late = await browser.submit(`${provider.issuer}/connect/endsession/confirm`, {
      ...fields,
      decision: 'logout',
    })
    expect(kindOf(late)).toBe('error')
    expect(await isSignedIn(browser)).toBe(true)
    const again = { ...hiddenFields(await logout(browser)), post_logout_redirect_uri: bye, state: 'x' }
    const end = await browser.submit(`${provider.issuer}/connect/endsession/confirm`, { ...again, decision: 'logout' })
    expect(kindOf(end)).toBe('signed out')
  })
})

describe('the browser after a logout', () => {
  test('gets no code by the back button: neither a page that was open nor the old cookie has a session', async () => {
    const { signedIn, ask, submit, logout } = await setUpLogout()
    const { browser, hint } = await signedIn()
    const open = await ask(browser, { prompt: 'select_account' })
    const cookies = [...browser.jar]
    await logout(browser, { id_token_hint: hint })
    expect((await submit(browser, open, {})).html).toContain('sign-in')
    for (const [name, value] of cookies) browser.jar.set(name, value)
    expect((await submit(browser, open, {})).html).toContain('sign-in')
    expect(answer(await ask(browser, { prompt: 'none' })).error).toBe('login_required')
  })

  test('a hint of an ended session does not end the next one', async () => {
    const { signedIn, logout, isSignedIn } = await setUpLogout()
    const { browser, hint } = await signedIn()
    await logout(browser, { id_token_hint: hint })
    await signedIn('alice', browser)
    expect(kindOf(await logout(browser, { id_token_hint: hint, post_logout_redirect_uri: bye }))).toBe('question')
    expect(await isSignedIn(browser)).toBe(true)
  })

  test('a client that was removed, or has lost the URI, while the user was asked gets no redirect', async () => {
    const listed = new Map([['web', [bye]]])
    const { signedIn, logout, decide } = await setUpLogout({
      clients: {
        find: async (id: string) => {
          const client = clients.find(({ clientId }) => clientId === id)
          return client && { ...client, postLogoutRedirectUris: listed.get(id) ?? [] }
        },
      },
    })
    const { browser } = await signedIn()
    const question = await logout(browser, { client_id: 'web', post_logout_redirect_uri: bye })
    listed.clear()
    const page = await decide(browser, question, 'logout')
    expect([kindOf(page), reasonOf(page)]).toEqual(['error', 'post_logout_redirect_uri_mismatch'])
  })
})
