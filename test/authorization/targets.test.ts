import { redirectUriProblem } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { answer } from './browser.ts'
import { challenge, redirectUri, request, setUp } from './parties.ts'

/** The reason that an error page shows. */
const reasonOf = (html: string): string | undefined => /id="reason">([^<]*)</u.exec(html)?.[1]

const without = (name: string): Record<string, string> =>
  Object.fromEntries(Object.entries(request).filter(([key]) => key !== name))

describe('the client and the redirect URI', () => {
  test.each([
    ['no client_id', without('client_id'), 'client_id_missing'],
    ['an unknown client_id', { ...request, client_id: 'stranger' }, 'client_unknown'],
    ['a disabled client', { ...request, client_id: 'disabled' }, 'client_unknown'],
    ['no redirect_uri, although one is registered', without('redirect_uri'), 'redirect_uri_missing'],
    ['an unknown redirect_uri', { ...request, redirect_uri: 'https://evil.example' }, 'redirect_uri_mismatch'],
    ['a redirect_uri with another path', { ...request, redirect_uri: `${redirectUri}/x` }, 'redirect_uri_mismatch'],
    ['a redirect_uri with a query', { ...request, redirect_uri: `${redirectUri}?x=1` }, 'redirect_uri_mismatch'],
    ['a redirect_uri with a fragment', { ...request, redirect_uri: `${redirectUri}#x` }, 'redirect_uri_mismatch'],
    [
      'a request object, with an unknown redirect_uri',
      { ...request, request: 'e30.e30.', redirect_uri: 'https://a.b/' },
      'redirect_uri_mismatch',
    ],
    [
      'every other mistake, with an unknown redirect_uri',
      { client_id: 'web', redirect_uri: 'https://a.b/', prompt: 'x', response_type: 'x' },
      'redirect_uri_mismatch',
    ],
  ])('11.2 shows a page for %s', async (_, parameters, reason) => {
    const { browser, urlOf, events } = await setUp()
    const { status, headers, html } = await browser().open(urlOf(parameters))
    expect([status, headers.get('location')]).toEqual([400, null])
    expect(reasonOf(html)).toBe(`plugin:authorization-endpoint:${reason}`)
    expect(events.at(-1)).toMatchObject({
      type: 'endpoint_failed',
      endpoint: 'authorization',
      reason: `plugin:authorization-endpoint:${reason}`,
    })
  })
})

const spa = { ...request, client_id: 'spa', code_challenge: challenge, code_challenge_method: 'S256' }

describe('redirect URIs of native applications', () => {
  test.each([['http://127.0.0.1:51004/callback'], ['http://127.0.0.1/callback'], ['com.example.app:/callback']])(
    '11.3 accepts %s, which a native application has registered',
    async (uri) => {
      const { browser, urlOf } = await setUp()
      const { headers } = await browser().open(urlOf({ ...spa, redirect_uri: uri }))
      expect(headers.get('location')?.startsWith(`${uri}?code=`)).toBe(true)
    },
  )

  test.each([
    ['http://localhost:51004/callback'],
    ['http://127.0.0.1:51004/other'],
    ['http://127.0.0.2:51004/callback'],
    ['https://127.0.0.1/callback'],
    ['http://[::1]:51004/callback'],
    ['com.example.app:/callback/'],
    ['com.example.app://callback'],
    ['COM.EXAMPLE.APP:/callback'],
  ])('11.3 refuses %s, which is another URI than that of the application', async (uri) => {
    const { browser, urlOf } = await setUp()
    const { status, headers } = await browser().open(urlOf({ ...spa, redirect_uri: uri }))
    expect([status, headers.get('location')]).toEqual([400, null])
  })

  test('11.3 accepts other letters still when V8 has optimized the check', () => {
    const problems = new Set<string | undefined>()
    // URL.canParse of Node 20 rejects this URL after about 5,000 calls.
    for (let call = 0; call < 20_000; call++) problems.add(redirectUriProblem('https://bücher.example/zurück'))
    expect([...problems]).toEqual([undefined])
  })

  test('11.3 keeps a registered URI with a query, and encodes one with other letters as a browser does', async () => {
    const uri = 'https://bücher.example/zurück?a=1'
    const { browser, urlOf } = await setUp(undefined, {}, { clients: [{ ...webWith(uri) }] })
    const { headers } = await browser().open(urlOf({ ...request, redirect_uri: uri }))
    expect(headers.get('location')).toMatch(/^https:\/\/xn--bcher-kva\.example\/zur%C3%BCck\?a=1&code=/u)
  })
})

const webWith = (uri: string) => ({
  clientId: 'web',
  secrets: [{ sha256: 'YTFhYTFhYTFhYTFhYTFhYTFhYTFhYTFhYTFhYTFhYTE=' }],
  grantTypes: ['authorization_code'],
  scopes: ['openid', 'api1'],
  redirectUris: [uri],
})

describe('the state', () => {
  test.each([
    ['a line break', 'a\r\nSet-Cookie: a=b'],
    ['NUL', 'a\0b'],
    ['a control character of Latin-1', 'a\u0085b'],
    ['8,192 characters', 'a'.repeat(8192)],
    ['2,000 letters that are not ASCII', 'ü'.repeat(2000)],
    // A form encodes them with three bytes each, as the redirect does.
    ['4,000 apostrophes', "'".repeat(4000)],
  ])('11.5 shows a page for a state with %s', async (_, state) => {
    const { browser, urlOf } = await setUp()
    const { status, headers } = await browser().open(urlOf({ ...request, state }))
    expect([status, headers.get('location')]).toEqual([400, null])
  })

  test.each([
    ['1,000 characters', `${'a'.repeat(995)}-._~`],
    ['punctuation', `&=#%"<>\\'{}|^;+/?:@!$()*,[]\``],
    ['letters that are not ASCII', 'zurück-日本-😀'],
    ['4,096 bytes in a URL', "'".repeat(1365)],
  ])('11.5 returns a state with %s unchanged', async (_, state) => {
    const { browser, urlOf } = await setUp()
    expect(answer(await browser().open(urlOf({ ...request, state }))).state).toBe(state)
    const denied = await browser().open(urlOf({ ...request, state, prompt: 'x' }))
    expect(answer(denied)).toMatchObject({ error: 'invalid_request', state })
  })
})
