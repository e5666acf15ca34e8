import type { SigningAlgorithm } from '@grantry/core'
import { signingKeys } from '@grantry/core'
import { mapDriver } from '@grantry/testing'
import { calculateJwkThumbprint, createLocalJWKSet, decodeProtectedHeader, type JWK, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { api1, type Fixture, fixture, redirectUri, webJwt } from '../support/fixture.ts'
import { privateKeyFor, publicPartOf } from '../support/keys.ts'

const url = 'https://id.example.com/.well-known/jwks'

async function newKey(alg: SigningAlgorithm, kid: string): Promise<{ full: JWK; public: JWK }> {
  const full = { ...(await privateKeyFor(alg)), kid }
  return { full, public: publicPartOf(full) }
}

const current = await newKey('ES256', 'current')
const next = await newKey('RS256', 'next')
const retired = await newKey('EdDSA', 'retired')

const publishedBy = async (f: Fixture): Promise<{ keys: JWK[] }> => (await f.provider.fetch(new Request(url))).json()

async function tokensOf(f: Fixture): Promise<{ access_token: string; id_token: string; refresh_token: string }> {
  const code = await f.code({ clientId: webJwt[0] })
  return (await f.post('token', { grant_type: 'authorization_code', code, redirect_uri: redirectUri }, webJwt)).body
}

describe('published keys', () => {
  test('9.4 publishes the current key, the next one and a retired one', async () => {
    const f = await fixture({ keys: [current.full, next.full, retired.public] })
    const { keys } = await publishedBy(f)
    expect(keys).toEqual([current, next, retired].map((key) => ({ ...key.public, use: 'sig' })))
  })

  test.each(['ES256', 'RS256', 'PS256', 'EdDSA'] as const)(
    '9.4 publishes only the public members of a private %s key, whatever it holds',
    async (alg) => {
      const key = await newKey(alg, 'k')
      const odd = { ...key.full, key_ops: ['sign'], ext: true, k: 'secret', x5u: 'file:///etc/passwd', note: 'mine' }
      const f = await fixture({ keys: [odd] })
      const text = await (await f.provider.fetch(new Request(url))).text()
      const allowed = ['kty', 'crv', 'x', 'y', 'n', 'e', 'kid', 'alg', 'use']
      const [shown = {}] = (JSON.parse(text) as { keys: JWK[] }).keys
      expect(Object.keys(shown).filter((name) => !allowed.includes(name))).toEqual([])
      for (const member of ['d', 'p', 'q', 'dp', 'dq', 'qi'] as const) {
        expect(shown).not.toHaveProperty(member)
        const secret = key.full[member]
        if (secret !== undefined) expect(text).not.toContain(secret)
      }
    },
  )

  test('9.4 a key without kid gets its thumbprint as kid, and tokens use it', async () => {
    const { kid: _, ...nameless } = current.full
    const f = await fixture({ keys: [nameless] })
    const thumbprint = await calculateJwkThumbprint(current.public)
    expect((await publishedBy(f)).keys[0]?.kid).toBe(thumbprint)
    expect(decodeProtectedHeader((await tokensOf(f)).access_token).kid).toBe(thumbprint)
  })

  test.each(['RS256', 'PS256', 'EdDSA'] as const)('the kid of a nameless %s key is its thumbprint', async (alg) => {
    const key = await privateKeyFor(alg)
    const f = await fixture({ keys: [{ ...key, note: 'not part of the thumbprint' } as JWK] })
    expect((await publishedBy(f)).keys[0]?.kid).toBe(await calculateJwkThumbprint(publicPartOf(key)))
  })

  test('9.4 publishes generated keys too', async () => {
    const f = await fixture({ keys: signingKeys({ algorithm: 'EdDSA' }) })
    const { keys } = await publishedBy(f)
    expect(keys).toEqual([
      { kty: 'OKP', crv: 'Ed25519', x: expect.any(String), kid: expect.any(String), alg: 'EdDSA', use: 'sig' },
    ])
    await jwtVerify((await tokensOf(f)).access_token, createLocalJWKSet({ keys }), {
      currentDate: new Date(f.clock.now() * 1000),
    })
  })

  test('9.4 is cacheable, responds to HEAD, and rejects POST', async () => {
    const f = await fixture()
    const response = await f.provider.fetch(new Request(url))
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('cache-control')).toBe('public, max-age=300')
    const head = await f.provider.fetch(new Request(url, { method: 'HEAD' }))
    expect([head.status, await head.text()]).toEqual([200, ''])
    const post = await f.provider.fetch(new Request(url, { method: 'POST', body: new URLSearchParams() }))
    expect(post.status).toBe(405)
  })
})

describe('rotation', () => {
  test.each(['ES256', 'RS256', 'PS256', 'EdDSA'] as const)(
    '9.4 signs with the first key, and a third party verifies with the published keys (%s)',
    async (alg) => {
      const key = await newKey(alg, 'first')
      const second = await newKey(alg, 'second')
      const f = await fixture({ keys: [key.full, second.full, retired.public] })
      const published = createLocalJWKSet(await publishedBy(f))
      const { access_token, id_token } = await tokensOf(f)
      for (const [token, typ] of [
        [access_token, 'at+jwt'],
        [id_token, 'JWT'],
      ] as const) {
        expect(decodeProtectedHeader(token)).toEqual({ alg, kid: 'first', typ })
        const currentDate = new Date(f.clock.now() * 1000)
        const { payload } = await jwtVerify(token, published, { currentDate, typ, issuer: 'https://id.example.com' })
        expect(payload.sub).toBe('1')
      }
    },
  )

  async function verdicts(f: Fixture, tokens: { access_token: string; id_token: string }) {
    const { access_token: token, id_token } = tokens
    const bearer = { authorization: `Bearer ${token}` }
    return {
      userinfo: (await f.get('userinfo', {}, bearer)).status,
      accessTokenValidation: (await f.post('accessTokenValidation', { token })).status,
      introspection: (await f.post('introspection', { token }, api1)).body.active,
      identityTokenValidation: (await f.post('identityTokenValidation', { token: id_token, client_id: webJwt[0] }))
        .status,
    }
  }
  const yes = { userinfo: 200, accessTokenValidation: 200, introspection: true, identityTokenValidation: 200 }
  const no = { userinfo: 401, accessTokenValidation: 400, introspection: false, identityTokenValidation: 400 }

  test('9.5 validates tokens of the next key before it signs here, and tokens of a retired key afterwards', async () => {
    const storage = mapDriver()
    const before = await fixture({ keys: [current.full, next.full], storage })
    const after = await fixture({ keys: [next.full, current.public], storage })
    const old = await tokensOf(before)
    const young = await tokensOf(after)
    expect(decodeProtectedHeader(young.access_token).kid).toBe('next')
    for (const tokens of [old, young]) {
      expect(await verdicts(before, tokens)).toEqual(yes)
      expect(await verdicts(after, tokens)).toEqual(yes)
    }
  })

  test('9.5 rejects tokens of a removed key everywhere', async () => {
    const storage = mapDriver()
    const old = await tokensOf(await fixture({ keys: [current.full], storage }))
    expect(await verdicts(await fixture({ keys: [next.full], storage }), old)).toEqual(no)
  })

  test('9.5 refresh tokens outlive the key', async () => {
    const storage = mapDriver()
    const { refresh_token } = await tokensOf(await fixture({ keys: [current.full], storage }))
    const f = await fixture({ keys: [next.full], storage })
    const response = await f.post('token', { grant_type: 'refresh_token', refresh_token }, webJwt)
    expect(response.status).toBe(200)
    expect(await verdicts(f, response.body)).toEqual(yes)
  })
})

describe('keys rejected at start', () => {
  test.each([
    ['none', [], /keys must be/u],
    ['a public key first', [current.public, next.full], /keys\[0\] must be a private key/u],
    ['two with one kid', [current.full, { ...next.full, kid: 'current' }], /two keys have the kid current/u],
    ['a symmetric key', [{ kty: 'oct', k: 'c2VjcmV0', alg: 'HS256' }], /keys\[0\] must be a key for/u],
    ['an algorithm that does not match the key', [{ ...current.full, alg: 'RS256' }], /keys\[0\] must be a key for/u],
    ['an incomplete key', [{ ...current.full, y: undefined }], /keys\[0\] cannot be imported/u],
  ] as const)('9.4 rejects keys at start: %s', async (_, keys, message) => {
    await expect(fixture({ keys: keys as readonly JWK[] })).rejects.toThrow(message)
  })

  test('9.4 an error message does not quote the private key', async () => {
    const broken = { ...current.full, x: 'AAAA' }
    const failure = await fixture({ keys: [broken] }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(TypeError)
    const { message, stack, cause } = failure as TypeError
    expect(`${message} ${stack} ${String(cause)}`).not.toContain(String(current.full.d))
  })

  test('9.4 rejects an RSA key under 2048 bits', async () => {
    const pair = await crypto.subtle.generateKey(
      { name: 'RSASSA-PKCS1-v1_5', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' },
      true,
      ['sign', 'verify'],
    )
    const weak = (await crypto.subtle.exportKey('jwk', (pair as CryptoKeyPair).privateKey)) as JWK
    await expect(fixture({ keys: [weak] })).rejects.toThrow(/fewer than 2048 bits/u)
  })
})
