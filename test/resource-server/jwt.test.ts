import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createResourceServer } from '../../packages/resource-server/src/index.ts'
import { audience, bearing, createApi, createIssuer, issuer, keyNamed, sign, start } from './issuer.ts'

// JWT access tokens: RFC 9068 section 4.

const key = await keyNamed('one')

describe('a JWT access token', () => {
  test('is accepted with its claims and scopes', async () => {
    const { api } = await createApi()
    const { token, response } = await api.authorize(bearing(await sign(key)))
    expect(response).toBeUndefined()
    expect(token?.claims).toMatchObject({ iss: issuer, aud: audience, sub: 'alice', client_id: 'web' })
    expect(token?.scopes).toEqual(['read', 'write'])
  })

  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['for several audiences', { aud: ['https://other.example', audience] }, {}],
    ['with the type in capitals', {}, { typ: 'AT+JWT' }],
    ['with the whole media type', {}, { typ: 'application/at+jwt' }],
    ['without sub, which Grantry omits without a user', { sub: undefined }, {}],
    ['that expires within the tolerance', { exp: start - 9 }, {}],
    ['that becomes valid within the tolerance', { nbf: start + 10 }, {}],
    ['without kid', {}, { kid: undefined }],
  ])('%s is accepted', async (_, claims, header) => {
    const { api } = await createApi()
    expect((await api.authorize(bearing(await sign(key, claims, header)))).reason).toBeUndefined()
  })

  test.each<[string, Record<string, unknown>, Record<string, unknown>, string]>([
    ['of another issuer', { iss: 'https://other.example' }, {}, 'issuer_mismatch'],
    ['of the issuer with a slash', { iss: `${issuer}/` }, {}, 'issuer_mismatch'],
    ['without iss', { iss: undefined }, {}, 'issuer_mismatch'],
    ['for another audience', { aud: 'https://other.example' }, {}, 'audience_mismatch'],
    ['for a part of the audience', { aud: `${audience}/orders` }, {}, 'audience_mismatch'],
    ['without aud', { aud: undefined }, {}, 'audience_mismatch'],
    ['with an empty aud', { aud: [] }, {}, 'audience_mismatch'],
    ['with an aud that is not text', { aud: [7] }, {}, 'claims_malformed'],
    ['that has expired', { exp: start - 10 }, {}, 'expired'],
    ['without exp', { exp: undefined }, {}, 'claims_malformed'],
    ['with an exp that is text', { exp: `${start + 300}` }, {}, 'claims_malformed'],
    ['that is not valid yet', { nbf: start + 11 }, {}, 'not_yet_valid'],
    ['with a sub that is a number', { sub: 7 }, {}, 'claims_malformed'],
    ['with an unknown key', {}, { kid: 'another' }, 'key_unknown'],
    ['of the type JWT', {}, { typ: 'JWT' }, 'typ_unsupported'],
    ['without a type', {}, { typ: undefined }, 'typ_unsupported'],
    ['of the type of proofs', {}, { typ: 'dpop+jwt' }, 'typ_unsupported'],
  ])('%s is refused', async (_, claims, header, reason) => {
    const { api } = await createApi()
    const { response, reason: actual } = await api.authorize(bearing(await sign(key, claims, header)))
    expect([response?.status, actual]).toEqual([401, reason])
    expect(response?.headers.get('www-authenticate')).toMatch(
      /^Bearer error="invalid_token", error_description="[^"]+"$/u,
    )
    expect(await response?.json()).toMatchObject({ error: 'invalid_token' })
  })

  test('that is signed with another key is refused', async () => {
    const { api } = await createApi()
    const { privateKey } = await keyNamed('two')
    expect((await api.authorize(bearing(await sign({ ...key, privateKey })))).reason).toBe('signature_mismatch')
  })

  test('with changed claims is refused', async () => {
    const { api } = await createApi()
    const [header, , signature] = (await sign(key)).split('.')
    const [, payload] = (await sign(key, { sub: 'bob' })).split('.')
    expect((await api.authorize(bearing(`${header}.${payload}.${signature}`))).reason).toBe('signature_mismatch')
  })

  test.each(['none', 'HS256', 'RS256', 'ES384'])('with the algorithm %s instead of ES256 is refused', async (alg) => {
    const { api } = await createApi()
    const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
    const [, payload] = (await sign(key)).split('.')
    const signed = `${encode({ alg, kid: 'one', typ: 'at+jwt' })}.${payload}`
    const signature = createHmac('sha256', JSON.stringify(key.jwk)).update(signed).digest('base64url')
    const expected = alg === 'RS256' ? 'key_unknown' : 'algorithm_not_allowed'
    expect((await api.authorize(bearing(`${signed}.${signature}`))).reason).toBe(expected)
  })

  test('with an extension that is critical is refused', async () => {
    const { api } = await createApi()
    const [, payload, signature] = (await sign(key)).split('.')
    const header = Buffer.from(JSON.stringify({ alg: 'ES256', kid: 'one', typ: 'at+jwt', crit: ['x'], x: 1 }))
    const token = `${header.toString('base64url')}.${payload}.${signature}`
    expect((await api.authorize(bearing(token))).reason).toBe('signature_mismatch')
  })
})

describe('the options for JWTs', () => {
  test('types accept tokens of issuers that do not follow RFC 9068', async () => {
    const { api } = await createApi({ jwt: { types: ['JWT'] } })
    expect((await api.authorize(bearing(await sign(key, {}, { typ: 'JWT' })))).reason).toBeUndefined()
    expect((await api.authorize(bearing(await sign(key, {}, { typ: undefined })))).reason).toBeUndefined()
    expect((await api.authorize(bearing(await sign(key, {}, { typ: 'dpop+jwt' })))).reason).toBe('typ_unsupported')
  })

  test('jwks need no fetch, and any text can be the issuer', async () => {
    const { options, fetched } = await createIssuer()
    const api = createResourceServer({ ...options, issuer: 'accounts', jwt: { jwks: { keys: [key.jwk] } } })
    expect((await api.authorize(bearing(await sign(key, { iss: 'accounts' })))).reason).toBeUndefined()
    expect(fetched).toEqual([])
  })

  test.each<[string, Record<string, unknown>, RegExp]>([
    ['an algorithm of a shared secret', { jwt: { algorithms: ['HS256'] } }, /jwt\.algorithms must be some of/u],
    ['the algorithm none', { jwt: { algorithms: ['none'] } }, /jwt\.algorithms must be some of/u],
    ['no algorithm', { jwt: { algorithms: [] } }, /jwt\.algorithms must not be empty/u],
    ['an issuer without https', { issuer: 'http://issuer.example' }, /issuer must be a URL with https/u],
    ['keys without https', { jwt: { jwksUri: 'http://a.example/' } }, /jwt\.jwksUri must be a URL with https/u],
    ['two sources of keys', { jwt: { jwksUri: `${issuer}/k`, jwks: { keys: [] } } }, /both jwks and jwksUri/u],
    ['no audience', { audience: [] }, /audience must not be empty/u],
    ['an empty audience', { audience: '' }, /audience must be a non-empty string/u],
    ['a mistyped option', { audiance: 'x' }, /has no member audiance/u],
    ['a mistyped option for JWTs', { jwt: { algs: ['ES256'] } }, /jwt has no member algs/u],
    ['an endless tolerance', { clockTolerance: 3600 }, /clockTolerance must be a number of seconds/u],
    ['a realm with a quotation mark', { realm: 'a"b' }, /realm must be printable ASCII/u],
  ])('%s is an error at start', async (_, options, message) => {
    await expect(createApi(options)).rejects.toThrow(message)
  })

  test('an issuer on this machine can have http', async () => {
    await expect(createApi({ issuer: 'http://127.0.0.1:3000' })).resolves.toBeDefined()
    await expect(createApi({ issuer: 'http://127.0.0.1.example.com' })).rejects.toThrow(/issuer must be/u)
  })
})
