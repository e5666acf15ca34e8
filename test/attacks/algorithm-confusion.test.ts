/**
 * Attack: an attacker knows the public keys and forges tokens whose header makes the verifier misuse them: a public key
 * as HMAC secret, no signature at all, another key of the ring, or a key inside the token itself.
 *
 * RFC 8725 sections 2.1, 3.1 and 3.2: the key determines the algorithm, never the header; RFC 7515 section 4.1: `jwk`,
 * `jku`, `x5c` prove nothing by themselves, and an unknown `crit` MUST be refused.
 */
import { CompactSign, exportJWK, exportSPKI, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose'
import { beforeAll, expect, test } from 'vitest'
import { api1, type Fixture, fixture, webJwt } from '../support/fixture.ts'
import { rsaKey } from '../support/keys.ts'

type Header = Record<string, unknown>
const json = (value: unknown) => Buffer.from(JSON.stringify(value))
const part = (value: unknown): string => json(value).toString('base64url')

let f: Fixture
let ring: { ec: JWK; rsa: JWK; retired: JWK }
let keys: { ec: CryptoKey; rsa: CryptoKey; retired: CryptoKey; foreign: CryptoKey }
let publicJwk: { ec: JWK; foreign: JWK }
let pem: string
let accessClaims: Record<string, unknown>
let identityClaims: Record<string, unknown>

beforeAll(async () => {
  const extractable = { extractable: true }
  const [ec, retired, foreign] = await Promise.all([
    generateKeyPair('ES256', extractable),
    generateKeyPair('ES256', extractable),
    generateKeyPair('ES256', extractable),
  ])
  ring = {
    ec: { ...(await exportJWK(ec.privateKey)), kid: 'ec', alg: 'ES256' },
    rsa: { ...rsaKey(0), kid: 'rsa', alg: 'RS256' },
    retired: { ...(await exportJWK(retired.publicKey)), kid: 'retired', alg: 'ES256' },
  }
  keys = {
    ec: ec.privateKey,
    rsa: (await importJWK(rsaKey(0), 'RS256')) as CryptoKey,
    retired: retired.privateKey,
    foreign: foreign.privateKey,
  }
  publicJwk = { ec: await exportJWK(ec.publicKey), foreign: await exportJWK(foreign.publicKey) }
  pem = await exportSPKI(ec.publicKey)
  f = await fixture({ keys: [ring.ec, ring.rsa, ring.retired] })
  const claims = { iss: f.provider.issuer, iat: f.clock.now(), nbf: f.clock.now(), exp: f.clock.now() + 300, sub: '1' }
  accessClaims = { ...claims, aud: 'https://api1.example.com', client_id: webJwt[0], scope: 'openid api1', jti: 'x' }
  identityClaims = { ...claims, aud: webJwt[0] }
})

/** The responses of the four endpoints to one token forged as an access token and one forged as an identity token. */
async function verdict(forge: (claims: Record<string, unknown>, typ: string) => Promise<string> | string) {
  const access = await forge(accessClaims, 'at+jwt')
  const identity = await forge(identityClaims, 'JWT')
  const validated = await f.post('identityTokenValidation', { token: identity, client_id: webJwt[0] })
  return {
    userinfo: (await f.get('userinfo', {}, { authorization: `Bearer ${access}` })).status,
    introspection: (await f.post('introspection', { token: access }, api1)).body,
    accessTokenValidation: (await f.post('accessTokenValidation', { token: access })).status,
    identityTokenValidation: validated.status,
  }
}
const refused = {
  userinfo: 401,
  introspection: { active: false },
  accessTokenValidation: 400,
  identityTokenValidation: 400,
}
const accepted = { userinfo: 200, accessTokenValidation: 200, identityTokenValidation: 200 }

const signed = (header: Header, key: () => CryptoKey | Uint8Array) => (claims: Record<string, unknown>, typ: string) =>
  new CompactSign(json(claims)).setProtectedHeader({ alg: 'ES256', kid: 'ec', typ, ...header }).sign(key(), {
    crit: { 'https://evil.example/crit': true },
  })
const unsigned =
  (header: Header, signature = '') =>
  (claims: Record<string, unknown>, typ: string) =>
    `${part({ kid: 'ec', typ, ...header })}.${part(claims)}.${signature}`

test('accepts the same claims signed with the key of the ring: only the signatures below are wrong', async () => {
  expect(await verdict(signed({}, () => keys.ec))).toMatchObject({ ...accepted, introspection: { active: true } })
  expect(await verdict(signed({ kid: 'retired' }, () => keys.retired))).toMatchObject(accepted)
  expect(await verdict(signed({ kid: 'rsa', alg: 'RS256' }, () => keys.rsa))).toMatchObject(accepted)
})

test.each<[string, () => Uint8Array]>([
  ['PEM text', () => Buffer.from(pem)],
  ['PEM text without its last line break', () => Buffer.from(pem.trimEnd())],
  ['JWK text', () => json(publicJwk.ec)],
  ['coordinate x', () => Buffer.from(String(publicJwk.ec.x), 'base64url')],
  ['DER bytes', () => Buffer.from(pem.replace(/-----[^-]+-----|\s/gu, ''), 'base64')],
])('rejects HS256 with the public key as secret (%s)', async (_, secret) => {
  for (const kid of ['ec', 'rsa', 'retired']) {
    expect(await verdict(signed({ alg: 'HS256', kid }, secret))).toEqual(refused)
  }
})

test.each(['none', 'None', 'nOnE', 'NONE', 'none ', '', 'ES256\u0000', 'es256', 'HS256'])(
  'rejects the algorithm %j without a signature',
  async (alg) => {
    expect(await verdict(unsigned({ alg }))).toEqual(refused)
    expect(await verdict(unsigned({ alg }, 'AA'))).toEqual(refused)
    const withoutKid = (claims: object, typ: string) => `${part({ alg, typ })}.${part(claims)}.`
    expect(await verdict(withoutKid)).toEqual(refused)
  },
)

test.each<[string, Header]>([
  ['no algorithm', {}],
  ['a list of algorithms', { alg: ['ES256', 'none'] }],
  ['a number', { alg: 0 }],
  ['null', { alg: null }],
  ['an object', { alg: { name: 'none' } }],
  ['a property name of the prototype', { alg: '__proto__' }],
])('rejects %s instead of an algorithm', async (_, header) => {
  expect(await verdict(unsigned(header, 'AA'))).toEqual(refused)
})

test.each<[string, Header, () => CryptoKey]>([
  ['another key of the ring', { kid: 'retired' }, () => keys.ec],
  ['a key of another algorithm', { kid: 'rsa' }, () => keys.ec],
  ['the algorithm of another key', { kid: 'ec', alg: 'RS256' }, () => keys.rsa],
  ['an algorithm that the key supports but is not meant for', { kid: 'rsa', alg: 'RS512' }, () => keys.rsa],
  ['no key', { kid: undefined }, () => keys.ec],
  ['an empty name', { kid: '' }, () => keys.ec],
  ['a property name of the prototype', { kid: '__proto__' }, () => keys.ec],
  ['a path', { kid: '../../../../dev/null' }, () => keys.ec],
  ['a list of names', { kid: ['ec'] }, () => keys.ec],
])('rejects a kid that names %s', async (_, header, key) => {
  const forge = async (claims: Record<string, unknown>, typ: string): Promise<string> => {
    const { alg = 'ES256' } = header
    const rsa = key().algorithm.name.startsWith('RSA')
    const input = `${part({ alg, kid: 'ec', typ, ...header })}.${part(claims)}`
    const how = rsa ? 'RSASSA-PKCS1-v1_5' : { name: 'ECDSA', hash: 'SHA-256' }
    const signature = await crypto.subtle.sign(how, key(), Buffer.from(input))
    return `${input}.${Buffer.from(signature).toString('base64url')}`
  }
  expect(await verdict(forge)).toEqual(refused)
})

test.each<[string, () => Header]>([
  ['jwk', () => ({ jwk: publicJwk.foreign })],
  ['jwk, and no kid', () => ({ jwk: publicJwk.foreign, kid: undefined })],
  ['jku', () => ({ jku: 'https://evil.example/jwks' })],
  ['x5u', () => ({ x5u: 'https://evil.example/cert' })],
  ['x5c', () => ({ x5c: ['MIIB'] })],
  ['crit', () => ({ crit: ['https://evil.example/crit'], 'https://evil.example/crit': 1 })],
])('rejects a key inside the token: %s', async (_, header) => {
  expect(await verdict(signed(header(), () => keys.foreign))).toEqual(refused)
})

test('rejects an unknown critical header even with a valid signature', async () => {
  const header = { crit: ['https://evil.example/crit'], 'https://evil.example/crit': 1 }
  expect(await verdict(signed(header, () => keys.ec))).toEqual(refused)
})

test.each(['RS256', 'PS256'])('rejects a foreign RSA key under %s and our kid', async (alg) => {
  const privateKey = await importJWK(rsaKey(1), alg)
  const forge = (claims: object, typ: string) =>
    new SignJWT({ ...claims }).setProtectedHeader({ alg, kid: 'rsa', typ }).sign(privateKey)
  expect(await verdict(forge)).toEqual(refused)
})
