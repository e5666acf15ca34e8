import { type JwtBearerOptions, jwtBearer } from '@grantry/plugins/jwt-bearer'
import { testClient } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { claimsOf } from '../support/claims-of.ts'
import { clientId, example, grantType, idp, key, outcomeOf, setUp } from './bearer-parties.ts'

describe('RFC 7523 section 4: the example', () => {
  test('gets a token for the user that the mapping returns', async () => {
    const f = await setUp()
    const { status, body } = await f.redeem(await key.sign(example))
    expect(status).toBe(200)
    expect(body).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'api1',
    })
    expect(claimsOf(body)).toMatchObject({ sub: `${idp} mailto:mike@example.com`, idp, amr: ['assertion'] })
  })

  test('the mapping gets the verified claims and the client', async () => {
    const calls: unknown[] = []
    const f = await setUp({}, { subject: (claims, client) => void calls.push([claims, client.clientId]) })
    expect(await outcomeOf(f, await key.sign(example))).toBe('subject_unknown')
    expect(calls).toEqual([[example, clientId]])
  })

  test('is refused without a mapping', async () => {
    const f = await setUp({}, { subject: undefined })
    expect(await outcomeOf(f, await key.sign(example))).toBe('subject_unknown')
  })
})

describe('RFC 7521 section 4.1: the response', () => {
  test('has no refresh token, even with offline_access', async () => {
    const { body } = await (await setUp()).redeem(await key.sign(example), 'api1 offline_access')
    expect(body).not.toHaveProperty('refresh_token')
  })

  test('has a refresh token if the plugin allows it', async () => {
    const f = await setUp({}, { refreshToken: true })
    const { body } = await f.redeem(await key.sign(example), 'api1 offline_access')
    expect(body.refresh_token).toEqual(expect.any(String))
    expect((await f.redeem(await key.sign(example))).body).not.toHaveProperty('refresh_token')
  })

  test('is a refusal for an inactive user, with the same text', async () => {
    const f = await setUp({}, {}, { users: { isActive: () => false } })
    expect(await outcomeOf(f, await key.sign(example))).toBe('user_inactive')
  })

  test('needs a scope (RFC 6749 section 3.3)', async () => {
    const { body } = await (await setUp()).redeem(await key.sign(example), '')
    expect(body.error).toBe('invalid_scope')
  })

  test('needs the parameter assertion', async () => {
    const f = await setUp()
    const { status, body } = await f.post('token', { grant_type: grantType, scope: 'api1' }, testClient)
    expect([status, body.error_description]).toEqual([400, 'The parameter assertion is required'])
  })

  test('shows nothing of an error in the mapping', async () => {
    const subject = () => {
      throw new TypeError('the directory is down')
    }
    const { status, body } = await (await setUp({}, { subject })).redeem(await key.sign(example))
    expect([status, body]).toEqual([500, { error: 'server_error' }])
  })
})

describe('a mistake in the options', () => {
  test.each<[string, object, RegExp]>([
    ['no issuers', { issuers: undefined }, /jwtBearer\(\): issuers must be an array/u],
    ['an issuer without keys', { issuers: [{ issuer: idp }] }, /issuers\[0\] must have either jwks or jwksUri/u],
    [
      'two sources of keys',
      { issuers: [{ issuer: idp, jwks: { keys: [key.jwk] }, jwksUri: `${idp}/keys` }] },
      /issuers\[0\] must have either jwks or jwksUri/u,
    ],
    [
      'two issuers with one name',
      { issuers: [1, 2].map(() => ({ issuer: idp, jwks: { keys: [key.jwk] } })) },
      /issuers\[1\]\.issuer is the same as an earlier one/u,
    ],
    [
      'a private key',
      { issuers: [{ issuer: idp, jwks: { keys: [{ ...key.jwk, d: 'x' }] } }] },
      /must be a public key/u,
    ],
    ['a secret', { issuers: [{ issuer: idp, jwks: { keys: [{ kty: 'oct', k: 'x' }] } }] }, /must be RSA, EC or OKP/u],
    ['keys without TLS', { issuers: [{ issuer: idp, jwksUri: 'http://idp.example.com/' }] }, /jwksUri must use https/u],
    ['keys at an address', { issuers: [{ issuer: idp, jwksUri: 'https://127.0.0.1/' }] }, /public host, not an IP/u],
    ['an unknown option', { issuers: [], subjects: () => undefined }, /did you mean subject/u],
  ])('is reported at startup: %s', (_, options, message) => {
    expect(() => jwtBearer(options as JwtBearerOptions)).toThrow(message)
  })
})
