/**
 * Attack: a caller who proves nothing sends each request that makes the provider store, count or verify something, hundreds of
 * times from one address, to fill the storage. Each kind has a bound on its records, and all of them end soon. The table of
 * docs/guides/abuse-control.md ("What strangers can leave") has the same rows.
 */

import { createPages } from '@grantry/pages'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { deviceAuthorization, deviceGrantType } from '@grantry/plugins/device-authorization'
import { dpop } from '@grantry/plugins/dpop'
import { proofKey } from '@grantry/plugins/proof-key'
import { pushedAuthorization } from '@grantry/plugins/pushed-authorization'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { registration } from '@grantry/plugins/registration'
import { signIn } from '@grantry/plugins/sign-in'
import { basic, createTestClock, createTestProvider } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { createBrowser, hiddenFields } from '../authorization/browser.ts'
import { challenge, clients, request, web } from '../authorization/parties.ts'
import { holder } from '../dpop/parties.ts'
import { metadata } from '../registration/parties.ts'
import { namedRecords } from '../support/named-records.ts'

const issuer = 'https://id.example.com'
const flooder = '192.0.2.66'
const minute = 60
const hour = 3600
const requests = 300

const tv = { clientId: 'tv', public: true, grantTypes: [deviceGrantType], scopes: ['openid', 'api1'] }
const spa = {
  ...request,
  client_id: 'spa',
  redirect_uri: 'com.example.app:/callback',
  code_challenge: challenge,
  code_challenge_method: 'S256',
}

async function setUp() {
  const clock = createTestClock()
  const { storage, sha256Hex, records } = namedRecords(clock.now)
  const pages = createPages()
  const f = await createTestProvider({
    storage,
    runtime: { now: clock.now, sha256Hex },
    clients: [...clients, tv],
    users: { authenticate: () => undefined, claims: () => ({}) },
    plugins: [
      authorizationCode(),
      proofKey(),
      refreshToken(),
      dpop(),
      authorizationEndpoint({ interaction: signIn({ pages }), pages, features: [pushedAuthorization()] }),
      deviceAuthorization({ verificationUri: `${issuer}/device` }),
      registration({ scopes: ['openid'], open: true }),
    ],
  })
  const send = async (path: string, init: RequestInit = {}) =>
    (await f.provider.fetch(new Request(`${issuer}${path}`, init), { clientAddress: flooder })).status
  const post = (path: string, form: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) =>
    send(`/connect/${path}`, { method: 'POST', body: new URLSearchParams(form), headers })
  return { ...f, clock, records, send, post }
}
type Setup = Awaited<ReturnType<typeof setUp>>

const grant = { grant_type: 'authorization_code', redirect_uri: spa.redirect_uri, code_verifier: 'a'.repeat(43) }

/** What a stranger sends, the most records that all requests may leave, and the seconds in which each ends. */
const table: readonly (readonly [string, (f: Setup, at: number) => Promise<unknown>, number, number])[] = [
  [
    'a request that begins a sign-in',
    (f) => f.send(`/connect/authorize?${new URLSearchParams(request)}`),
    310,
    40 * minute,
  ],
  ['a pushed request of a public client', (f) => f.post('par', spa), 310, 40 * minute],
  [
    'a request for a device code',
    (f) => f.post('deviceauthorization', { client_id: 'tv', scope: 'openid' }),
    610,
    hour,
  ],
  [
    'a registration',
    (f) =>
      f.send('/connect/register', {
        method: 'POST',
        body: JSON.stringify(metadata),
        headers: { 'content-type': 'application/json' },
      }),
    120,
    2 * hour + minute,
  ],
  [
    'a registration with 50 origins',
    (f, at) =>
      f.send('/connect/register', {
        method: 'POST',
        body: JSON.stringify({
          ...metadata,
          redirect_uris: Array.from({ length: 50 }, (_, origin) => `https://o${origin}.h${at}.example.com/cb`),
        }),
        headers: { 'content-type': 'application/json' },
      }),
    100 * (1 + 2 * 16) + 10,
    2 * hour + minute,
  ],
  [
    'a wrong secret of a client',
    (f) => f.post('token', grant, { authorization: basic([web[0], 'wrong']) }),
    6,
    5 * minute,
  ],
  [
    'a secret of a made-up client',
    (f, at) => f.post('token', grant, { authorization: basic([`no${at}`, 'x']) }),
    110,
    5 * minute,
  ],
  ['a made-up code', (f, at) => f.post('token', { ...grant, client_id: 'spa', code: `code-${at}` }), 4, hour],
  [
    'a made-up refresh token',
    (f, at) => f.post('token', { grant_type: 'refresh_token', client_id: 'spa', refresh_token: `token-${at}` }),
    4,
    hour,
  ],
  [
    'a made-up device code',
    (f, at) => f.post('token', { grant_type: deviceGrantType, client_id: 'tv', device_code: `code-${at}` }),
    4,
    hour,
  ],
  [
    'a made-up access token',
    (f, at) => f.send('/connect/userinfo', { headers: { authorization: `Bearer no${at}` } }),
    6,
    5 * minute,
  ],
  [
    'a made-up token for a registration',
    (f, at) =>
      f.send(`/connect/register/registered-${'x'.repeat(43)}`, { headers: { authorization: `Bearer no${at}` } }),
    6,
    5 * minute,
  ],
  [
    'the revocation of a made-up token',
    (f, at) => f.post('revocation', { client_id: 'spa', token: `token-${at}` }),
    4,
    hour,
  ],
  [
    'a proof of a new key',
    async (f) =>
      f.post(
        'token',
        { ...grant, client_id: 'spa', code: 'x' },
        { dpop: await (await holder()).prove({ iat: f.clock.now() }) },
      ),
    4,
    hour,
  ],
  ['a made-up interaction', (f, at) => f.send(`/connect/signin?interaction=${String(at).padStart(43, 'x')}`), 4, hour],
  [
    'a preflight of a made-up origin',
    (f, at) =>
      f.send('/connect/token', {
        method: 'OPTIONS',
        headers: { origin: `https://o${at}.example.com`, 'access-control-request-method': 'POST' },
      }),
    0,
    0,
  ],
]

describe(`what ${requests} requests of a stranger leave`, () => {
  test.each(table)('%s', async (_, send, most, seconds) => {
    const f = await setUp()
    const before = new Set(f.records().map(([name]) => name))
    const left = () => f.records().filter(([name]) => !before.has(name) && !/^(?:revision|epoch):/u.test(name))
    for (let at = 0; at < requests; at += 1) await send(f, at)
    expect(left().length).toBeLessThanOrEqual(most)
    expect(left().filter(([, end]) => end > seconds)).toEqual([])
    f.clock.advance(seconds + 1)
    expect(left()).toEqual([])
  })

  test('with passwords of made-up users on the page of the sign-in', async () => {
    const f = await setUp()
    const browser = createBrowser(f.provider, flooder)
    const before = new Set(f.records().map(([name]) => name))
    const left = () => f.records().filter(([name]) => !before.has(name))
    let page = await browser.open(`${issuer}/connect/authorize?${new URLSearchParams(request)}`)
    for (let at = 0; at < 100; at += 1) {
      const next = await browser.submit(`${issuer}/connect/signin`, {
        ...hiddenFields(page),
        username: `no${at}`,
        password: 'x',
      })
      if (next.status === 200) page = next
    }
    // Twenty failures of one address are checked in a minute; each has counters of the name, the account and the address.
    expect(left().length).toBeLessThanOrEqual(21 * 8 + 20)
    expect(left().filter(([, end]) => end > 40 * minute)).toEqual([])
  })
})
