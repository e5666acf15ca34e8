import { clientAssertion } from '@grantry/plugins/client-assertion'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { mtls } from '@grantry/plugins/mtls'
import { basic, read, sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import {
  assertionType,
  claims,
  client,
  issuer,
  key,
  lastReason,
  now,
  outcomeOf,
  setUp,
  sign,
  tokenEndpoint,
} from './assertions.ts'

const without = (name: string): Record<string, unknown> => ({ ...claims(), [name]: undefined })

// RFC 7523 section 3, and how the suite of the OpenID Foundation checks it.
describe('an assertion', () => {
  test.each<[string, object, string]>([
    ['another issuer than the client', { iss: 'other' }, 'iss_invalid'],
    ['no issuer', { iss: undefined }, 'iss_invalid'],
    ['another subject that exists', { sub: 'other' }, 'signature_mismatch'],
    ['the audience of another server', { aud: 'https://other.example.com' }, 'aud_invalid'],
    ['an audience with another slash', { aud: `${issuer}/` }, 'aud_invalid'],
    ['no audience', { aud: undefined }, 'aud_invalid'],
    ['no exp', { exp: undefined }, 'exp_invalid'],
    ['a text as exp', { exp: String(now + 60) }, 'exp_invalid'],
    ['an exp that has passed', { exp: now - 10 }, 'expired'],
    ['an exp of 5 minutes ago', { exp: now - 300 }, 'expired'],
    ['an exp too far ahead', { exp: now + 3611 }, 'exp_too_late'],
    ['an infinite exp', { exp: 1e308 }, 'malformed'],
    ['an nbf too far ahead', { nbf: now + 62, iat: now + 62, exp: now + 122 }, 'nbf_invalid'],
    ['an iat too far ahead', { iat: now + 62 }, 'iat_invalid'],
    ['a text as iat', { iat: 'now' }, 'iat_invalid'],
    ['no jti', { jti: undefined }, 'jti_invalid'],
    ['an empty jti', { jti: '' }, 'jti_invalid'],
    ['a number as jti', { jti: 1 }, 'jti_invalid'],
    ['a jti that is too long', { jti: 'x'.repeat(257) }, 'jti_invalid'],
  ])('with %s is rejected', async (_, more, reason) => {
    expect(await outcomeOf(await setUp(), await sign({ ...claims(), ...more }))).toEqual([401, reason])
  })

  test.each<[string, object]>([
    ['an exp that passed within the tolerance', { exp: now - 9 }],
    ['the latest exp', { exp: now + 3610 }],
    ['nbf and iat within the tolerance', { nbf: now + 8, iat: now + 8 }],
    ['no iat and no nbf', { iat: undefined, nbf: undefined }],
    ['other claims', { extra: { a: 1 } }],
  ])('with %s is accepted', async (_, more) => {
    expect(await outcomeOf(await setUp(), await sign({ ...claims(), ...more }))).toEqual([200, undefined])
  })

  test.each(['JWT', 'jwt', 'client-authentication+jwt', 'application/client-authentication+jwt'])(
    'of the type %s is accepted',
    async (typ) => {
      expect(await outcomeOf(await setUp(), await sign(claims(), key.privateKey, { typ }))).toEqual([200, undefined])
    },
  )

  test.each(['dpop+jwt', 'at+jwt', 'oauth-authz-req+jwt', ''])('of the type "%s" is rejected', async (typ) => {
    const jwt = await sign(claims(), key.privateKey, { typ })
    expect(await outcomeOf(await setUp(), jwt)).toEqual([401, 'typ_unsupported'])
  })

  test('that is malformed is rejected', async () => {
    const f = await setUp()
    const [header, payload, signature] = (await sign(claims())).split('.')
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    for (const jwt of [
      'x',
      'a.b.c',
      `${header}.${payload}.`,
      `${header}.${payload}`,
      `${header}.${payload}.${signature}.${signature}`,
      ` ${header}.${payload}.${signature}`,
      `${encode([])}.${payload}.${signature}`,
      `${encode({ alg: 1 })}.${payload}.${signature}`,
      `${header}.${encode('text')}.${signature}`,
      `${header}.${encode(without('sub'))}.${signature}`,
      `${header}.${encode({ ...claims(), sub: 1 })}.${signature}`,
    ]) {
      expect(await outcomeOf(f, jwt)).toEqual([401, 'malformed'])
    }
  })

  test('with a critical header that is not supported is rejected', async () => {
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const jwt = await sign(claims())
    const critical = [encode({ alg: 'ES256', crit: ['x'], x: 1 }), ...jwt.split('.').slice(1)].join('.')
    expect(await outcomeOf(await setUp(), critical)).toEqual([401, 'malformed'])
  })

  test('without its type, or with another one, is rejected', async () => {
    const f = await setUp()
    const jwt = await sign(claims())
    expect(await outcomeOf(f, jwt, { client_assertion_type: '' })).toEqual([401, 'type_unsupported'])
    expect(await outcomeOf(f, jwt, { client_assertion_type: 'urn:x' })).toEqual([401, 'type_unsupported'])
    // The type without an assertion, as with no credentials.
    expect(await outcomeOf(f, '')).toEqual([401, 'credentials_missing'])
  })

  test('beside the same client_id is accepted, beside another one rejected', async () => {
    const f = await setUp()
    expect(await outcomeOf(f, await sign(claims()), { client_id: 'service' })).toEqual([200, undefined])
    expect(await outcomeOf(f, await sign(claims()), { client_id: 'other' })).toEqual([400, 'client_id_mismatch'])
  })

  test('beside a secret is rejected', async () => {
    const f = await setUp({}, [client({ secrets: [{ sha256: sha256Of('secret') }] })])
    const form = { client_id: 'service', client_secret: 'secret' }
    expect(await outcomeOf(f, await sign(claims()), form)).toEqual([400, 'several_credentials'])
    const body = new URLSearchParams({ client_assertion: await sign(claims()), client_assertion_type: assertionType })
    const headers = { authorization: basic(['service', 'secret']) }
    const request = new Request(tokenEndpoint, { method: 'POST', body, headers })
    expect((await read(await f.provider.handlers.token(request))).body.error).toBe('invalid_request')
    expect(lastReason(f)).toBe('several_credentials')
  })
})

describe('the audience "issuer or endpoint"', () => {
  const audience = 'issuer or endpoint'
  test.each<[unknown, number]>([
    [issuer, 200],
    [tokenEndpoint, 200],
    [[issuer, tokenEndpoint], 200],
    [[], 401],
    [[issuer, 'https://other.example.com'], 401],
    [`${issuer}/other/token`, 401],
  ])('decides about %j', async (aud, status) => {
    const f = await setUp({ audience })
    expect((await outcomeOf(f, await sign({ ...claims(), aud })))[0]).toBe(status)
  })

  test('includes the alias of the token endpoint for clients with certificates', async () => {
    const alias = 'https://mtls.example.com/connect/token'
    const revocationAlias = 'https://mtls.example.com/connect/revocation'
    const endpointAliases = { token_endpoint: alias, revocation_endpoint: revocationAlias }
    const more = { plugins: [clientCredentials(), clientAssertion({ audience }), mtls({ endpointAliases })] }
    const f = await setUp({}, undefined, more)
    for (const aud of [alias, tokenEndpoint, [issuer, alias]]) {
      expect(await outcomeOf(f, await sign({ ...claims(), aud }))).toEqual([200, undefined])
    }
    expect(await outcomeOf(f, await sign({ ...claims(), aud: revocationAlias }))).toEqual([401, 'aud_invalid'])
    const narrow = {
      plugins: [clientCredentials(), clientAssertion({ audience: 'issuer' }), mtls({ endpointAliases })],
    }
    const ofIssuer = await setUp({}, undefined, narrow)
    expect(await outcomeOf(ofIssuer, await sign({ ...claims(), aud: alias }))).toEqual([401, 'aud_invalid'])
  })

  test('is the URL of a token endpoint with another path', async () => {
    const f = await setUp({ audience }, undefined, { endpoints: { token: '/tokens' } })
    expect(await outcomeOf(f, await sign({ ...claims(), aud: `${issuer}/tokens` }))).toEqual([200, undefined])
    expect(await outcomeOf(f, await sign({ ...claims(), aud: tokenEndpoint }))).toEqual([401, 'aud_invalid'])
  })

  test('uses the configured URL', async () => {
    const f = await setUp({ audience, tokenEndpoint: `${issuer}/other/token` })
    expect(await outcomeOf(f, await sign({ ...claims(), aud: `${issuer}/other/token` }))).toEqual([200, undefined])
    expect(await outcomeOf(f, await sign({ ...claims(), aud: `${issuer}/third/token` }))).toEqual([401, 'aud_invalid'])
  })
})

describe('the audience "issuer"', () => {
  test.each<[string, unknown]>([
    ['the token endpoint', tokenEndpoint],
    ['the issuer in an array', [issuer]],
    ['several audiences', [issuer, tokenEndpoint]],
  ])('is not %s', async (_, aud) => {
    const f = await setUp({ audience: 'issuer' })
    expect(await outcomeOf(f, await sign({ ...claims(), aud }))).toEqual([401, 'aud_invalid'])
    expect(await outcomeOf(f, await sign(claims()))).toEqual([200, undefined])
  })
})
