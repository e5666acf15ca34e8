/**
 * Attack: an attacker modifies a valid token (its claims, its signature, its encoding), signs with another key under
 * our kid, or holds a token that our key signed for something else: another issuer, another audience, another time.
 *
 * RFC 7515 section 5.2 (an invalid signature, or base64url with additional characters, is refused), RFC 7519 section
 * 4.1 (iss, aud, exp, nbf), RFC 9068 section 4. That the response does not reveal which check failed is hardening.
 */
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { beforeAll, describe, expect, test } from 'vitest'
import { api1, type Fixture, fixture, redirectUri, webJwt } from '../support/fixture.ts'

let f: Fixture
let key: CryptoKey
let foreign: CryptoKey
let good: { access: string; identity: string }

beforeAll(async () => {
  const keyPair = await generateKeyPair('ES256', { extractable: true })
  key = keyPair.privateKey
  foreign = (await generateKeyPair('ES256')).privateKey
  const jwk: JWK = { ...(await exportJWK(key)), kid: 'ours', alg: 'ES256' }
  f = await fixture({ keys: [jwk] })
  const code = await f.code({ clientId: webJwt[0] })
  const { body } = await f.post('token', { grant_type: 'authorization_code', code, redirect_uri: redirectUri }, webJwt)
  good = { access: body.access_token, identity: body.id_token }
})

const accessResponses = async (token: string) => ({
  introspection: (await f.post('introspection', { token }, api1)).body.active,
  validation: (await f.post('accessTokenValidation', { token })).body,
})
const identityResponse = async (token: string) =>
  (await f.post('identityTokenValidation', { token, client_id: webJwt[0] })).body

const noAccess = {
  introspection: false,
  validation: { error: 'invalid_token', error_description: 'The access token is not valid' },
}
const noIdentity = { error: 'invalid_token', error_description: 'The identity token is not valid' }

async function expectRefused(change: (token: string) => string): Promise<void> {
  expect(await accessResponses(change(good.access))).toEqual(noAccess)
  expect(await identityResponse(change(good.identity))).toEqual(noIdentity)
}

test('the unmodified tokens are valid: only the changes below are rejected', async () => {
  expect(await accessResponses(good.access)).toMatchObject({ introspection: true, validation: { sub: '1' } })
  expect(await identityResponse(good.identity)).toMatchObject({ sub: '1' })
})

const parts = (token: string): [string, string, string] => token.split('.') as [string, string, string]
const rewrite = (text: string, change: object): string => {
  const value = JSON.parse(Buffer.from(text, 'base64url').toString())
  return Buffer.from(JSON.stringify({ ...value, ...change })).toString('base64url')
}
const flip = (text: string, at: number): string => {
  const bytes = Buffer.from(text, 'base64url')
  bytes[at] = (bytes[at] ?? 0) ^ 1
  return bytes.toString('base64url')
}

describe('a valid token, modified', () => {
  test.each<[string, (token: string) => string]>([
    ['another subject', (token) => ((p) => [p[0], rewrite(p[1], { sub: '2' }), p[2]].join('.'))(parts(token))],
    ['a later end', (token) => ((p) => [p[0], rewrite(p[1], { exp: 9_999_999_999 }), p[2]].join('.'))(parts(token))],
    ['another header', (token) => ((p) => [rewrite(p[0], { x: 1 }), p[1], p[2]].join('.'))(parts(token))],
    ['one bit of the signature', (token) => ((p) => [p[0], p[1], flip(p[2], 5)].join('.'))(parts(token))],
    ['no signature', (token) => ((p) => `${p[0]}.${p[1]}.`)(parts(token))],
    ['no signature and no last dot', (token) => ((p) => `${p[0]}.${p[1]}`)(parts(token))],
    ['a signature of zeros', (token) => ((p) => `${p[0]}.${p[1]}.${'A'.repeat(86)}`)(parts(token))],
    ['the signature shortened by a byte', (token) => token.slice(0, -2)],
    ['half of the signature', (token) => token.slice(0, -43)],
    ['the signature with an extra byte', (token) => `${token}AA`],
    ['the signature twice', (token) => ((p) => `${token}${p[2]}`)(parts(token))],
    ['a fourth part', (token) => `${token}.x`],
    ['five parts, as encrypted', (token) => `${token}.x.y`],
    ['a leading dot', (token) => `.${token}`],
    ['a scheme before it', (token) => `Bearer ${token}`],
    ['a space before it', (token) => ` ${token}`],
    ['a character outside base64url', (token) => `${token}!`],
    [
      'the JSON serialization',
      (token) => ((p) => JSON.stringify({ protected: p[0], payload: p[1], signature: p[2] }))(parts(token)),
    ],
  ])('rejects %s', async (_, change) => {
    await expectRefused(change)
  })

  // One token must have one encoding; otherwise a space evades a list of revoked tokens.
  test.each<[string, (token: string) => string]>([
    ['a line break after it', (token) => `${token}\n`],
    ['a space after it', (token) => `${token} `],
    ['a space inside the signature', (token) => `${token.slice(0, -10)} ${token.slice(-10)}`],
    ['padding', (token) => `${token}==`],
  ])('rejects %s', async (_, change) => {
    await expectRefused(change)
  })
})

test('the signature of one valid token does not match another', async () => {
  const [header, payload] = parts(good.access)
  const [, , signature] = parts(good.identity)
  expect(await accessResponses(`${header}.${payload}.${signature}`)).toEqual(noAccess)
})

describe('claims that our own key signed', () => {
  const at = (seconds: number) => f.clock.now() + seconds
  const claims = () => ({ iss: f.provider.issuer, sub: '1', iat: at(0), nbf: at(0), exp: at(300) })
  const access = (more: object = {}, signer = key, header: object = {}) =>
    new SignJWT({
      ...claims(),
      aud: 'https://api1.example.com',
      client_id: webJwt[0],
      scope: 'openid api1',
      ...more,
    })
      .setProtectedHeader({ alg: 'ES256', kid: 'ours', typ: 'at+jwt', ...header })
      .sign(signer)
  const identity = (more: object = {}, signer = key, header: object = {}) =>
    new SignJWT({ ...claims(), aud: webJwt[0], ...more })
      .setProtectedHeader({ alg: 'ES256', kid: 'ours', typ: 'JWT', ...header })
      .sign(signer)

  test('are accepted as they are', async () => {
    expect(await accessResponses(await access())).toMatchObject({ introspection: true, validation: { sub: '1' } })
    expect(await identityResponse(await identity())).toMatchObject({ sub: '1' })
  })

  test('are rejected under a foreign key with the same kid', async () => {
    expect(await accessResponses(await access({}, foreign))).toEqual(noAccess)
    expect(await identityResponse(await identity({}, foreign))).toEqual(noIdentity)
  })

  test.each(['at+jwt', 'JWT', 'secevent+jwt', 'logout+jwt', 'jwt+at', undefined])(
    'are rejected under the wrong typ: %s',
    async (typ) => {
      if (typ !== 'at+jwt') expect(await accessResponses(await access({}, key, { typ }))).toEqual(noAccess)
      if (typ !== 'JWT') expect(await identityResponse(await identity({}, key, { typ }))).toEqual(noIdentity)
    },
  )

  test.each<[string, () => object]>([
    ['another issuer', () => ({ iss: 'https://evil.example' })],
    ['an issuer with a trailing slash', () => ({ iss: `${f.provider.issuer}/` })],
    ['an issuer in a list', () => ({ iss: [f.provider.issuer] })],
    ['no issuer', () => ({ iss: undefined })],
    ['another audience', () => ({ aud: 'https://evil.example' })],
    ['no audience', () => ({ aud: undefined })],
    ['an empty list of audiences', () => ({ aud: [] })],
    ['an audience with the same beginning', () => ({ aud: ['https://api1.example.com.evil', `${webJwt[0]}x`] })],
    ['an end that has just come', () => ({ exp: at(0) })],
    ['no end', () => ({ exp: undefined })],
    ['an end as a string', () => ({ exp: String(at(300)) })],
    ['a start six seconds ahead', () => ({ nbf: at(6) })],
    ['a start far in the future', () => ({ nbf: at(1_000_000_000) })],
    ['no start', () => ({ nbf: undefined })],
    ['no time of issue', () => ({ iat: undefined })],
    ['a user who does not exist', () => ({ sub: '3' })],
  ])('are rejected with %s', async (_, more) => {
    expect(await accessResponses(await access(more()))).toEqual(noAccess)
    expect(await identityResponse(await identity(more()))).toEqual(noIdentity)
  })

  test.each<[string, object]>([
    ['an unknown client', { client_id: 'unknown' }],
    ['a property name of the prototype as client', { client_id: '__proto__' }],
    ['no client', { client_id: undefined }],
    ['scopes in a list', { scope: ['openid', 'api1'] }],
    ['no scopes', { scope: undefined }],
    ['the audience of scopes that are not in it', { scope: 'api2' }],
  ])('are not an access token with %s', async (_, more) => {
    expect(await accessResponses(await access(more))).toEqual(noAccess)
  })

  test('are not an identity token without a subject, or with a subject that is not a string', async () => {
    for (const sub of [undefined, 1, ['1'], null])
      expect(await identityResponse(await identity({ sub }))).toEqual(noIdentity)
  })
})
