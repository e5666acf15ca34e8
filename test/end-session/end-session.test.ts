import { decodeJwt } from '@grantry/core'
import { expect, test } from 'vitest'
import { answer, hiddenFields } from '../authorization/browser.ts'
import { bye, clients, kindOf, setUpLogout, state } from './parties.ts'

test('13.1 discovery announces the endpoint', async () => {
  const { provider } = await setUpLogout()
  expect(provider.metadata.end_session_endpoint).toBe('https://id.example.com/connect/endsession')
})

test('13.2 a hint of the session ends it without a question, and returns to the client with the state only', async () => {
  const { signedIn, logout, isSignedIn } = await setUpLogout()
  const { browser, hint } = await signedIn()
  const page = await logout(browser, { id_token_hint: hint, post_logout_redirect_uri: bye, state })
  expect(page.status).toBe(303)
  expect(page.url.origin + page.url.pathname).toBe(bye)
  expect(answer(page)).toEqual({ state })
  expect(await isSignedIn(browser)).toBe(false)
})

test('13.2 the session is gone from the storage and from the browser', async () => {
  const { signedIn, logout, isSignedIn } = await setUpLogout()
  const { browser, hint } = await signedIn()
  const stolen = new Map(browser.jar)
  const page = await logout(browser, { id_token_hint: hint })
  expect(page.headers.getSetCookie()).toEqual([
    '__Host-grantry-session=; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=0',
  ])
  expect(browser.jar.has('__Host-grantry-session')).toBe(false)
  for (const [name, value] of stolen) browser.jar.set(name, value)
  expect(await isSignedIn(browser)).toBe(false)
})

test('13.2 an expired hint is accepted', async () => {
  const { signedIn, logout, clock, isSignedIn } = await setUpLogout()
  const { browser, hint } = await signedIn()
  clock.advance(3000)
  expect(kindOf(await logout(browser, { id_token_hint: hint, post_logout_redirect_uri: bye }))).toBe('redirect')
  expect(await isSignedIn(browser)).toBe(false)
})

test('13.2 a later hint of the same session is accepted', async () => {
  const { signedIn, logout, ask, redeem, isSignedIn } = await setUpLogout()
  const { browser } = await signedIn()
  const { id_token: hint } = (await redeem(answer(await ask(browser)).code)).body
  expect(kindOf(await logout(browser, { id_token_hint: hint }))).toBe('signed out')
  expect(await isSignedIn(browser)).toBe(false)
})

test('13.3 without state, the redirect has none', async () => {
  const { signedIn, logout } = await setUpLogout()
  const { browser, hint } = await signedIn()
  const page = await logout(browser, { id_token_hint: hint, post_logout_redirect_uri: bye })
  expect(page.url.href).toBe(bye)
})

test.each([
  [`${bye}?tenant=1`, `${bye}?tenant=1&state=s`],
  ['https://bücher.example/tschüß', 'https://xn--bcher-kva.example/tsch%C3%BC%C3%9F?state=s'],
])('13.3 the state is added to the query of %s', async (uri, expected) => {
  const { signedIn, logout } = await setUpLogout()
  const { browser, hint } = await signedIn()
  const page = await logout(browser, { id_token_hint: hint, post_logout_redirect_uri: uri, state: 's' })
  expect(page.headers.get('location')).toBe(expected)
})

test('13.3 a private-use scheme of a native application', async () => {
  const { signedIn, logout, decide } = await setUpLogout()
  const { browser } = await signedIn()
  const question = await logout(browser, {
    client_id: 'spa',
    post_logout_redirect_uri: 'com.example.app:/bye',
    state: 's',
  })
  expect(question.headers.get('content-security-policy')).not.toContain('form-action')
  expect((await decide(browser, question, 'logout')).headers.get('location')).toBe('com.example.app:/bye?state=s')
})

test.each([
  ['only state', { state }],
  ['no parameters', {}],
  ['only client_id', { client_id: 'web' }],
  ['client_id and a registered URI', { client_id: 'web', post_logout_redirect_uri: bye, state }],
])('13.4 %s: asks, and the session lives until the answer', async (_name, parameters) => {
  const { signedIn, logout, decide, isSignedIn } = await setUpLogout()
  const { browser } = await signedIn()
  const question = await logout(browser, parameters)
  expect(kindOf(question)).toBe('question')
  expect(question.html).toContain('Signed in as alice')
  expect(await isSignedIn(browser)).toBe(true)
  const end = await decide(browser, question, 'logout')
  expect(await isSignedIn(browser)).toBe(false)
  expect(kindOf(end)).toBe('post_logout_redirect_uri' in parameters ? 'redirect' : 'signed out')
  expect(answer(end)).toEqual('post_logout_redirect_uri' in parameters ? { state } : {})
})

test('13.4 a hint of another user, or of an earlier session, asks', async () => {
  const { signedIn, logout, isSignedIn } = await setUpLogout()
  const [alice, bob] = [await signedIn('alice'), await signedIn('bob')]
  expect(kindOf(await logout(alice.browser, { id_token_hint: bob.hint, post_logout_redirect_uri: bye }))).toBe(
    'question',
  )
  const elsewhere = await signedIn('alice')
  expect(decodeJwt(elsewhere.hint)?.claims.sub).toBe('alice')
  expect(kindOf(await logout(alice.browser, { id_token_hint: elsewhere.hint }))).toBe('question')
  expect(await isSignedIn(alice.browser)).toBe(true)
  expect(await isSignedIn(elsewhere.browser)).toBe(true)
})

test('13.4 a hint without a session asks, also if its user is signed in, however old it is', async () => {
  const withoutUris = clients.map((client) => ({ ...client, postLogoutRedirectUris: [] }))
  const { signedIn, logout, isSignedIn, clock } = await setUpLogout({ clients: withoutUris })
  const [alice, bob] = [await signedIn('alice'), await signedIn('bob')]
  expect(decodeJwt(alice.hint)?.claims).not.toHaveProperty('sid')
  expect(kindOf(await logout(alice.browser, { id_token_hint: bob.hint }))).toBe('question')
  expect(await isSignedIn(alice.browser)).toBe(true)
  expect(kindOf(await logout(alice.browser, { id_token_hint: alice.hint }))).toBe('question')
  expect(await isSignedIn(alice.browser)).toBe(true)
  clock.advance(31_536_000)
  const later = await signedIn('alice')
  expect(kindOf(await logout(later.browser, { id_token_hint: alice.hint }))).toBe('question')
  expect(await isSignedIn(later.browser)).toBe(true)
})

test.each(['stay', '', 'unknown'])(
  '13.4 the answer "%s" keeps the session, and redirects nowhere',
  async (decision) => {
    const { signedIn, logout, decide, isSignedIn } = await setUpLogout()
    const { browser } = await signedIn()
    const question = await logout(browser, { client_id: 'web', post_logout_redirect_uri: bye })
    const page = await decide(browser, question, decision)
    expect(kindOf(page)).toBe('stay')
    expect(page.html).toContain('href="https://client.example.com/"')
    expect(await isSignedIn(browser)).toBe(true)
  },
)

test('13.5 without a session, the user sees that it is gone, and returns to the client', async () => {
  const { signedIn, logout, browser } = await setUpLogout()
  const { hint } = await signedIn()
  expect(kindOf(await logout(browser()))).toBe('signed out')
  const page = await logout(browser(), { id_token_hint: hint, post_logout_redirect_uri: bye, state })
  expect([kindOf(page), answer(page)]).toEqual(['redirect', { state }])
  expect(page.headers.getSetCookie()).toEqual([])
})

test('13.5 a second click, and a form after the session has ended, lead to the same end', async () => {
  const { signedIn, logout, decide } = await setUpLogout()
  const { browser } = await signedIn()
  const question = await logout(browser, { client_id: 'web', post_logout_redirect_uri: bye, state })
  const [first, second] = [await decide(browser, question, 'logout'), await decide(browser, question, 'logout')]
  expect(second.headers.get('location')).toBe(first.headers.get('location'))
})

test('13.8 a POST becomes a GET, without other parameters, so that the browser sends its cookie', async () => {
  const { provider, signedIn, logoutByPost, isSignedIn } = await setUpLogout()
  const { browser, hint } = await signedIn()
  const crossSite = new Request(`${provider.issuer}/connect/endsession`, {
    method: 'POST',
    body: new URLSearchParams({ id_token_hint: hint, client_secret: 'web-secret', password: 'p' }),
  })
  const { status, headers } = await provider.fetch(crossSite)
  const location = new URL(headers.get('location') ?? '')
  expect([status, location.pathname]).toEqual([303, '/connect/endsession'])
  expect([...location.searchParams.keys()]).toEqual(['client_id', 'checked_hint'])
  expect(location.href).not.toContain(hint)
  const page = await logoutByPost(browser, { id_token_hint: hint, post_logout_redirect_uri: bye, state })
  expect(answer(page)).toEqual({ state })
  expect(await isSignedIn(browser)).toBe(false)
})

test('13.8 a POST that is too long for a URL is sent again by an own page', async () => {
  const { provider, signedIn, logoutByPost, isSignedIn } = await setUpLogout()
  const { browser, hint } = await signedIn()
  const long = { id_token_hint: hint, post_logout_redirect_uri: bye, state: 's'.repeat(4000) }
  const page = await logoutByPost(browser, long)
  expect([page.status, kindOf(page)]).toEqual([200, 'question'])
  expect(page.html).toContain(`action="${provider.issuer}/connect/endsession"`)
  const again = hiddenFields(page)
  expect(again).toMatchObject(long)
  expect(kindOf(await logoutByPost(browser, { ...again, decision: 'stay' }))).toBe('stay')
  expect(await isSignedIn(browser)).toBe(true)
  const end = await logoutByPost(browser, { ...again, decision: 'logout' })
  expect(answer(end)).toEqual({ state: long.state })
  expect(await isSignedIn(browser)).toBe(false)
})

test('13.8 HEAD ends nothing', async () => {
  const { provider, logoutUrl, signedIn, isSignedIn } = await setUpLogout()
  const { browser, hint } = await signedIn()
  const cookie = [...browser.jar].map((pair) => pair.join('=')).join('; ')
  await provider.fetch(new Request(logoutUrl({ id_token_hint: hint }), { method: 'HEAD', headers: { cookie } }))
  expect(await isSignedIn(browser)).toBe(true)
})

test('13.9 refresh tokens remain valid: they are access while the user is away', async () => {
  const { ask, signedIn, logout, redeem, post, isSignedIn } = await setUpLogout()
  const { browser, hint } = await signedIn()
  const { code } = answer(await ask(browser, { scope: 'openid offline_access' }))
  const { refresh_token: token } = (await redeem(code)).body
  await logout(browser, { id_token_hint: hint })
  expect(await isSignedIn(browser)).toBe(false)
  const refreshed = await post('token', { grant_type: 'refresh_token', refresh_token: token }, ['web', 'web-secret'])
  expect(refreshed.status).toBe(200)
})

test.each(['stay', 'logout'])(
  '13.5 a user without a session is never told to be signed in: decision %s',
  async (decision) => {
    const { browser, logout } = await setUpLogout()
    expect(kindOf(await logout(browser(), { decision }))).toBe('signed out')
  },
)
