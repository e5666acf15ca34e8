import { describe, expect, test } from 'vitest'
import { kitOf, offerKit } from '../support/kit-of.ts'
import { bye, kindOf, longUri, type Parameters, reasonOf, setUpLogout, state } from './parties.ts'

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

test.each<[string, (hint: string) => Parameters, string]>([
  [
    'a URI that is not registered',
    (hint) => ({ id_token_hint: hint, post_logout_redirect_uri: `${bye}/x` }),
    'post_logout_redirect_uri_mismatch',
  ],
  [
    'a registered URI with a query',
    (hint) => ({ id_token_hint: hint, post_logout_redirect_uri: `${bye}?foo=bar` }),
    'post_logout_redirect_uri_mismatch',
  ],
  [
    'another port of a loopback address',
    (hint) => ({ id_token_hint: hint, post_logout_redirect_uri: 'http://127.0.0.1:5001/bye' }),
    'post_logout_redirect_uri_mismatch',
  ],
  [
    'a redirect URI of codes',
    (hint) => ({ id_token_hint: hint, post_logout_redirect_uri: 'https://client.example.com/callback' }),
    'post_logout_redirect_uri_mismatch',
  ],
  [
    'a URI of another client',
    (hint) => ({ id_token_hint: hint, post_logout_redirect_uri: 'com.example.app:/bye' }),
    'post_logout_redirect_uri_mismatch',
  ],
  ['a URI without a client', () => ({ post_logout_redirect_uri: bye, state }), 'client_id_missing'],
  ['an unknown client', () => ({ client_id: 'nope' }), 'client_unknown'],
  ['a disabled client', () => ({ client_id: 'disabled' }), 'client_unknown'],
  [
    'a hint of another client than client_id',
    (hint) => ({ id_token_hint: hint, client_id: 'spa' }),
    'hint_of_other_client',
  ],
  ['a hint that is no token', () => ({ id_token_hint: 'x.y.z', client_id: 'web' }), 'hint_invalid'],
  ['a state with a line break', (hint) => ({ id_token_hint: hint, state: 'a\nb' }), 'state_malformed'],
  ['a state that is too long', (hint) => ({ id_token_hint: hint, state: 'a'.repeat(4097) }), 'too_long'],
  ['a state that a URL lengthens', (hint) => ({ id_token_hint: hint, state: "'".repeat(4000) }), 'too_long'],
  [
    'a registered URI that is too long',
    (hint) => ({ id_token_hint: hint, post_logout_redirect_uri: longUri }),
    'too_long',
  ],
  ['a logout_hint that is too long', (hint) => ({ id_token_hint: hint, logout_hint: 'a'.repeat(1001) }), 'too_long'],
  ['ui_locales that are too long', (hint) => ({ id_token_hint: hint, ui_locales: 'a'.repeat(1001) }), 'too_long'],
])('13.6 shows a page for %s, redirects nowhere and ends nothing', async (_name, parametersOf, reason) => {
  const { signedIn, logout, isSignedIn } = await setUpLogout()
  const { browser, hint } = await signedIn()
  const page = await logout(browser, parametersOf(hint))
  expect([page.status, kindOf(page), reasonOf(page)]).toEqual([400, 'error', reason])
  expect(await isSignedIn(browser)).toBe(true)
})

test('13.6 shows a page for a repeated parameter', async () => {
  const { signedIn, isSignedIn, logoutUrl } = await setUpLogout()
  const { browser, hint } = await signedIn()
  const names = ['id_token_hint', 'client_id', 'post_logout_redirect_uri', 'state', 'ui_locales', 'logout_hint']
  for (const name of names) {
    const query = new URLSearchParams({ id_token_hint: hint, client_id: 'web', post_logout_redirect_uri: bye, state })
    if (!query.has(name)) query.append(name, 'en')
    query.append(name, query.get(name) ?? '')
    const page = await browser.open(`${logoutUrl()}${query}`)
    expect([name, page.status, kindOf(page)]).toEqual([name, 400, 'error'])
  }
  expect(await isSignedIn(browser)).toBe(true)
})

describe('a forged hint', () => {
  /** Variants of a real hint. */
  const forgeries: readonly (readonly [string, (hint: string) => string])[] = [
    ['with alg none and no signature', (hint) => `${encode({ alg: 'none', typ: 'JWT' })}.${hint.split('.')[1]}.`],
    ['with alg none and a signature', (hint) => `${encode({ alg: 'none' })}.${hint.split('.').slice(1).join('.')}`],
    [
      'of another user',
      (hint) => {
        const [header, payload = '', signature] = hint.split('.')
        const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
        return `${header}.${encode({ ...claims, sub: 'bob' })}.${signature}`
      },
    ],
    [
      'signed with the secret of the client',
      (hint) => `${encode({ alg: 'HS256', typ: 'JWT' })}.${hint.split('.').slice(1).join('.')}`,
    ],
    ['with an empty signature', (hint) => `${hint.split('.').slice(0, 2).join('.')}.`],
    ['of 60,000 characters', (hint) => `${hint}${'a'.repeat(60_000)}`],
  ]

  test.each(forgeries)('13.7 refuses a hint %s', async (_name, forge) => {
    const { signedIn, logout, isSignedIn } = await setUpLogout()
    const { browser, hint } = await signedIn()
    const page = await logout(browser, { id_token_hint: forge(hint), post_logout_redirect_uri: bye, state })
    expect(page.headers.get('location')).toBeNull()
    expect(kindOf(page)).toBe('error')
    expect(await isSignedIn(browser)).toBe(true)
  })

  test('13.7 refuses a hint of another issuer, and an access token', async () => {
    const { signedIn, logout, ask, redeem, isSignedIn } = await setUpLogout()
    const otherIssuer = await setUpLogout({ issuer: 'https://other.example.com' })
    const { hint: foreign } = await otherIssuer.signedIn()
    const { browser } = await signedIn()
    const { access_token: token } = (await redeem((await ask(browser)).url.searchParams.get('code') ?? '')).body
    for (const hint of [foreign, token]) {
      expect(reasonOf(await logout(browser, { id_token_hint: hint, client_id: 'web' }))).toBe('hint_invalid')
    }
    expect(await isSignedIn(browser)).toBe(true)
  })
})

test('13.10 no page is cached or framed, and each is in the language of the user', async () => {
  const { signedIn, logout, decide, browser: stranger } = await setUpLogout()
  const { browser, hint } = await signedIn()
  const question = await logout(browser, { ui_locales: 'de' })
  expect(question.html).toContain('Möchten Sie sich abmelden?')
  const pages = [
    question,
    await decide(browser, question, 'stay'),
    await logout(browser, { client_id: 'nope' }),
    await logout(stranger()),
    await logout(browser, { id_token_hint: hint, post_logout_redirect_uri: bye }),
  ]
  for (const { headers } of pages) {
    expect(headers.get('cache-control')).toBe('no-store')
    if (headers.get('location') !== null) continue
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(headers.get('referrer-policy')).toBe('no-referrer')
  }
  expect(kindOf(pages[1] ?? question)).toBe('stay')
  expect(pages[1]?.html).toContain('Sie sind weiterhin angemeldet')
})

// A browser that comes back from a provider has a state. What was sealed for a form must not lead to the client.
test('a state that was sealed for another purpose leads back to no client', async () => {
  const plugin = 'authorization-endpoint'
  const providers = { logoutUrl: async () => undefined }
  const { provider } = await setUpLogout({}, [{ parts: () => [offerKit(plugin)] }], providers)
  const kit = kitOf(provider, plugin)
  const locationOf = async (purpose: string) => {
    const params = { client_id: 'web', post_logout_redirect_uri: bye }
    const state = await kit.seal({ purpose, sid: 'x', params }, kit.now() + 60)
    const url = `${provider.issuer}/connect/endsession/return?${new URLSearchParams({ state })}`
    return (await provider.fetch(new Request(url))).headers.get('location')
  }
  expect(await locationOf('logout')).toBeNull()
  expect(await locationOf('logout return')).toBe(bye)
})
