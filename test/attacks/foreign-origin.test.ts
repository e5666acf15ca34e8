/**
 * Attack: a page of the attacker, open in the browser of an internal user, sends requests to the provider to read the
 * responses; or it uses an origin that looks like an allowed one.
 *
 * Fetch standard (CORS): without Access-Control-Allow-Origin the page cannot read. Deny by default, per-client origins,
 * no credentials, and none at all on access token validation and introspection: wire contract, section 1.
 */

import { basic } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { type Fixture, fixture, redirectUri, spaClientId, web, webJwt } from '../support/fixture.ts'

const base = 'https://id.example.com'
const webOrigin = 'https://web.example.com'
const spaOrigin = 'https://spa.example.com'
const corsPaths = ['/connect/token', '/connect/userinfo', '/connect/identitytokenvalidation', '/connect/revocation']
const closedPaths = ['/connect/introspect', '/connect/accesstokenvalidation']

const preflight = (f: Fixture, path: string, origin: string, headers: Record<string, string> = {}) =>
  f.provider.fetch(
    new Request(base + path, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization, x-custom',
        ...headers,
      },
    }),
  )
const post = (f: Fixture, path: string, form: Record<string, string>, headers: Record<string, string>) =>
  f.provider.fetch(new Request(base + path, { method: 'POST', headers, body: new URLSearchParams(form) }))

const strangeOrigins = [
  'https://evil.example',
  'null',
  '*',
  'http://web.example.com',
  'https://web.example.com:8443',
  'https://web.example.com/',
  'https://web.example.com.evil.example',
  'https://evil-web.example.com',
  'https://sub.web.example.com',
  'https://WEB.example.com',
  `${webOrigin}, https://evil.example`,
  `${webOrigin} https://evil.example`,
  'web.example.com',
  'file://',
]

const corsHeaders = (response: Response): string[] =>
  [...response.headers.keys()].filter((name) => name.startsWith('access-control-'))

describe.each(strangeOrigins)('the origin %s', (origin) => {
  test.each([...corsPaths, ...closedPaths])('is denied for %s', async (path) => {
    const f = await fixture()
    expect(corsHeaders(await preflight(f, path, origin))).toEqual([])
    const form = { grant_type: 'client_credentials', scope: 'api1', token: 'x', client_id: web[0] }
    expect(corsHeaders(await post(f, path, form, { origin, authorization: basic(web) }))).toEqual([])
    expect(corsHeaders(await f.provider.fetch(new Request(base + path, { headers: { origin } })))).toEqual([])
  })
})

test.each(corsPaths)(
  'an allowed origin may read %s, without credentials: the tests above fail for their origin only',
  async (path) => {
    const f = await fixture()
    const response = await preflight(f, path, webOrigin)
    expect(response.status).toBe(204)
    expect(response.headers.get('access-control-allow-origin')).toBe(webOrigin)
    expect(response.headers.get('vary')).toMatch(/^Origin, /u)
    expect(response.headers.has('access-control-allow-credentials')).toBe(false)
    expect(response.headers.get('access-control-allow-headers')).toBe('authorization, x-custom')
  },
)

test.each(closedPaths)('no origin may read %s, not even an allowed one', async (path) => {
  const f = await fixture()
  const response = await preflight(f, path, webOrigin)
  expect(response.status).toBe(405)
  expect(corsHeaders(response)).toEqual([])
  expect(corsHeaders(await post(f, path, { token: 'x' }, { origin: webOrigin }))).toEqual([])
})

test('the origin of one client cannot read the tokens of another', async () => {
  const f = await fixture()
  const form = { grant_type: 'client_credentials', scope: 'api1' }
  const responseTo = async (origin: string, as: typeof web) =>
    (await post(f, '/connect/token', form, { origin, authorization: basic(as) })).headers.get(
      'access-control-allow-origin',
    )
  expect(await responseTo(webOrigin, web)).toBe(webOrigin)
  expect(await responseTo(spaOrigin, web)).toBeNull()
  expect(await responseTo(webOrigin, webJwt)).toBeNull()
})

test('the origin of one client cannot read the user of another', async () => {
  const f = await fixture()
  const code = await f.code({ clientId: web[0] })
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
  const { access_token, id_token } = (await f.post('token', form, web)).body
  const userinfo = (origin: string) =>
    f.provider.fetch(
      new Request(`${base}/connect/userinfo`, { headers: { origin, authorization: `Bearer ${access_token}` } }),
    )
  const identity = (origin: string) =>
    post(f, '/connect/identitytokenvalidation', { token: id_token, client_id: web[0] }, { origin })
  for (const send of [userinfo, identity]) {
    expect((await send(webOrigin)).headers.get('access-control-allow-origin')).toBe(webOrigin)
    expect((await send(spaOrigin)).headers.has('access-control-allow-origin')).toBe(false)
  }
})

test('the origins of a disabled client are ignored', async () => {
  const f = await fixture({
    clients: [{ clientId: spaClientId, public: true, enabled: false, allowedCorsOrigins: [spaOrigin] }],
  })
  for (const path of corsPaths) expect(corsHeaders(await preflight(f, path, spaOrigin))).toEqual([])
})

test.each(['null', '*', 'https://web.example.com/path', 'web.example.com'])(
  'the origin %s cannot even be configured',
  async (origin) => {
    await expect(fixture({ clients: [{ clientId: 'x', public: true, allowedCorsOrigins: [origin] }] })).rejects.toThrow(
      'allowedCorsOrigins',
    )
  },
)

test.each(corsPaths)('1.90 the response to a preflight of %s is not cacheable', async (path) => {
  const f = await fixture()
  for (const origin of [webOrigin, 'https://evil.example']) {
    const { headers } = await preflight(f, path, origin)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('pragma')).toBe('no-cache')
    expect(headers.get('vary')).toMatch(/^Origin, /u)
  }
})

// A response header must not contain what the caller chose, beyond names: no second header, no wildcard for an origin
// that is not allowed.
test.each(['x\tSet-Cookie: a=b', 'x; y', 'x=y', '(x)', '[x]', 'x:y', '<x>', 'x@y'])(
  'the header name "%s" is not repeated in the response to a preflight',
  async (name) => {
    const f = await fixture()
    const response = await preflight(f, '/connect/token', webOrigin, { 'access-control-request-headers': name })
    expect(corsHeaders(response)).toEqual([])
    expect(JSON.stringify([...response.headers])).not.toContain(JSON.stringify(name).slice(1, -1))
  },
)

test('an origin that is not allowed gets no header allowed, not even *', async () => {
  const f = await fixture()
  for (const name of ['*', 'authorization', 'x-custom']) {
    const headers = { 'access-control-request-headers': name }
    expect(corsHeaders(await preflight(f, '/connect/token', 'https://evil.example', headers))).toEqual([])
  }
})
