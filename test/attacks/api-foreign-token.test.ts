/**
 * Attack: the sender of a request has a token that is not an access token for this API, or makes one: with a key of its
 * own, with the public key of the issuer as a secret, with an identity token, a refresh token or a token for another API.
 *
 * RFC 8725 and RFC 9068 section 5 describe the attacks.
 */
import { createHmac } from 'node:crypto'
import { exportSPKI, importJWK } from 'jose'
import { describe, expect, test } from 'vitest'
import { createResourceServer } from '../../packages/resource-server/src/index.ts'
import {
  audience,
  bearing,
  createApi,
  createIssuer,
  issuer,
  jwksUri,
  keyNamed,
  sign,
} from '../resource-server/issuer.ts'

const [issuerKey, thief] = [await keyNamed('one'), await keyNamed('thief')]
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('an API refuses a forged token', () => {
  test.each([
    ['jwk', { jwk: thief.jwk }],
    ['jku', { jku: 'https://evil.example/keys' }],
    ['x5u', { x5u: 'https://evil.example/chain' }],
    ['x5c', { x5c: ['MAMCAf8='] }],
  ])('that contains its own key in %s, which is not fetched', async (_, header) => {
    const { test: t, api } = await createApi()
    const token = await sign({ ...thief, jwk: { ...thief.jwk, kid: 'one' } }, {}, header)
    expect((await api.authorize(bearing(token))).reason).toBe('signature_mismatch')
    expect(t.fetched.filter((url) => url.includes('evil'))).toEqual([])
  })

  test('that is signed with the public key as a shared secret', async () => {
    const { api } = await createApi()
    const spki = await exportSPKI((await importJWK(issuerKey.jwk, 'ES256')) as CryptoKey)
    const [, payload] = (await sign(issuerKey)).split('.')
    for (const secret of [spki, spki.trim(), JSON.stringify(issuerKey.jwk), '']) {
      const signed = `${encode({ alg: 'HS256', typ: 'at+jwt', kid: 'one' })}.${payload}`
      const token = `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
      expect((await api.authorize(bearing(token))).reason).toBe('algorithm_not_allowed')
    }
  })

  test.each(['none', 'None', 'NONE', ''])('without a signature, with the algorithm %j', async (alg) => {
    const { api } = await createApi()
    const [, payload] = (await sign(issuerKey)).split('.')
    for (const signature of ['', 'AA']) {
      const token = `${encode({ alg, typ: 'at+jwt' })}.${payload}.${signature}`
      expect((await api.authorize(bearing(token))).response?.status).toBe(401)
    }
  })

  test('with a symmetric key that the issuer has published', async () => {
    const { test: t, api } = await createApi()
    t.published = [{ kty: 'oct', k: 'AAAA', kid: 'one' }]
    const [, payload] = (await sign(issuerKey)).split('.')
    for (const alg of ['HS256', 'ES256']) {
      const signed = `${encode({ alg, typ: 'at+jwt', kid: 'one' })}.${payload}`
      const token = `${signed}.${createHmac('sha256', Buffer.alloc(3)).update(signed).digest('base64url')}`
      expect((await api.authorize(bearing(token))).response?.status).toBe(401)
    }
  })

  test('with a key of RSA that is too short', async () => {
    const { test: t, api } = await createApi()
    t.published = [{ kty: 'RSA', n: 'A'.repeat(171), e: 'AQAB', kid: 'one' }]
    const [, payload] = (await sign(issuerKey)).split('.')
    const token = `${encode({ alg: 'RS256', typ: 'at+jwt', kid: 'one' })}.${payload}.${'A'.repeat(171)}`
    expect((await api.authorize(bearing(token))).reason).toBe('key_unknown')
  })
})

describe('an API refuses a token of the issuer that is not for it', () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>, string]>([
    ['an identity token', { nonce: 'n' }, { typ: 'JWT' }, 'typ_unsupported'],
    ['a logout token', { events: {} }, { typ: 'logout+jwt' }, 'typ_unsupported'],
    ['an introspection response', {}, { typ: 'token-introspection+jwt' }, 'typ_unsupported'],
    ['a token for another API', { aud: 'https://other.example' }, {}, 'audience_mismatch'],
  ])('%s', async (_, claims, header, reason) => {
    const { api } = await createApi()
    expect((await api.authorize(bearing(await sign(issuerKey, claims, header)))).reason).toBe(reason)
  })

  test('a refresh token, which the issuer calls active without an audience', async () => {
    const t = await createIssuer()
    t.responses.set(`${issuer}/introspect`, () => Response.json({ active: true, iss: issuer, sub: 'alice' }))
    const api = createResourceServer({ ...t.options, introspection: { clientId: 'a', clientSecret: 'b' } })
    expect((await api.authorize(bearing('refresh-token'))).reason).toBe('audience_mismatch')
  })
})

test('an issuer cannot lead an API to the keys of another document by a redirect or its metadata', async () => {
  const { test: t, api } = await createApi()
  t.responses.set(jwksUri, () => Response.redirect('https://evil.example/keys'))
  t.responses.set('https://evil.example/keys', () => Response.json({ keys: [thief.jwk] }))
  expect((await api.authorize(bearing(await sign(thief)))).reason).toBe('keys_unavailable')
})

test.each([
  ['a very long header', { authorization: `Bearer ${'a.'.repeat(20_000)}` }],
  ['claims of another type', { authorization: `Bearer ${encode({ alg: 'ES256', typ: {} })}.W10.AA` }],
  ['a header that is an array', { authorization: `Bearer ${encode([])}.e30.AA` }],
  ['control characters', { authorization: 'Bearer \u0080\u00ff' }],
  ['names of the prototype', { authorization: `Bearer ${encode({ alg: '__proto__', typ: 'at+jwt' })}.e30.AA` }],
  [
    'a kid of the prototype',
    { authorization: `Bearer ${encode({ alg: 'ES256', typ: 'at+jwt', kid: 'constructor' })}.e30.AA` },
  ],
])('input never makes a check reject: %s', async (_, headers) => {
  const { api } = await createApi({ dpop: { baseUrl: audience } })
  const { response } = await api.authorize(new Request(`${audience}/`, { headers }))
  expect(response?.status).toBeOneOf([400, 401])
})

// The issuer may ignore what is added, and accept a JWT that the options of the API refuse.
test.each<[string, (jwt: string) => string]>([
  ['padding', (jwt) => `${jwt}==`],
  ['half of the padding', (jwt) => `${jwt}=`],
  ['a fourth part', (jwt) => `${jwt}.`],
  ['another character at its end', (jwt) => `${jwt}~`],
  ['an empty signature', (jwt) => jwt.replace(/[^.]+$/u, '')],
  ['no signature', (jwt) => jwt.replace(/\.[^.]+$/u, '')],
  ['the alphabet of base64', (jwt) => `${jwt.slice(0, -1)}+`],
])('a JWT with %s is neither accepted nor introspected', async (_, change) => {
  const t = await createIssuer()
  t.responses.set(`${issuer}/introspect`, () => Response.json({ active: true, aud: audience }))
  const introspection = { clientId: 'a', clientSecret: 'b' }
  const token = change(await sign(issuerKey))
  for (const options of [t.options, { ...t.options, introspection }]) {
    expect((await createResourceServer(options).authorize(bearing(token))).reason).toBe('token_malformed')
  }
  expect(t.fetched).toEqual([])
})

test('requests with random tokens, schemes and proofs get 400 or 401', async () => {
  const { api } = await createApi({ dpop: { baseUrl: audience, nonce: true } })
  const characters = ['a', '.', '=', ' ', ',', '"', 'é', '-', '/', 'Bearer ', 'DPoP ', 'e30', encode({ alg: 'ES256' })]
  let seed = 1
  const random = (limit: number): number => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % limit
  }
  const text = (): string => Array.from({ length: random(12) }, () => characters[random(characters.length)]).join('')
  for (let i = 0; i < 2000; i++) {
    const headers = { authorization: random(2) === 0 ? text() : `DPoP ${text()}`, dpop: text() }
    const { response } = await api.authorize(new Request(`${audience}/`, { headers }))
    expect(response?.status).toBeOneOf([400, 401])
  }
})
