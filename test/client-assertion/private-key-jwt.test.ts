import { clientAssertion } from '@grantry/plugins/client-assertion'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { createTestProvider, read } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { testGrant } from '../support/test-grant.ts'
import { assertionType, claims, client, createKey, issuer, key, outcomeOf, present, setUp, sign } from './assertions.ts'

describe('private_key_jwt', () => {
  test('authenticates a client by an assertion that it signed', async () => {
    const f = await setUp()
    const { status, body } = await present(f, await sign(claims()))
    expect([status, body.token_type]).toEqual([200, 'Bearer'])
    expect(f.events).toContainEqual(
      expect.objectContaining({
        type: 'client_authentication_succeeded',
        method: 'private_key_jwt',
        clientId: 'service',
      }),
    )
  })

  test('is listed in the discovery document with its algorithms', async () => {
    const { provider } = await setUp({ algorithms: ['PS256'] })
    expect(provider.metadata).toMatchObject({
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'private_key_jwt'],
      token_endpoint_auth_signing_alg_values_supported: ['PS256'],
      revocation_endpoint_auth_signing_alg_values_supported: ['PS256'],
      introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    })
  })

  test('works at the revocation endpoint', async () => {
    const f = await setUp()
    const body = new URLSearchParams({
      token: 'x',
      client_assertion_type: assertionType,
      client_assertion: await sign(claims()),
    })
    const request = new Request(`${issuer}/connect/revocation`, { method: 'POST', body })
    expect((await read(await f.provider.handlers.revocation(request))).status).toBe(200)
  })

  test.each(['ES256', 'PS256', 'RS256', 'EdDSA'])('accepts %s by default', async (alg) => {
    const clientKey = await createKey(alg)
    const f = await setUp({}, [client({ jwks: { keys: [clientKey.jwk] } })])
    expect(await outcomeOf(f, await sign(claims(), clientKey.privateKey, { alg }))).toEqual([200, undefined])
  })

  test('finds the key by its id, and by trying two keys without an id', async () => {
    const [a, b] = [await createKey('ES256', { kid: 'a' }), await createKey()]
    const f = await setUp({}, [client({ jwks: { keys: [a.jwk, b.jwk] } })])
    expect(await outcomeOf(f, await sign(claims(), a.privateKey, { kid: 'a' }))).toEqual([200, undefined])
    expect(await outcomeOf(f, await sign(claims(), b.privateKey))).toEqual([200, undefined])
    expect(await outcomeOf(f, await sign(claims(), b.privateKey, { kid: 'b' }))).toEqual([401, 'key_unknown'])
    expect(await outcomeOf(f, await sign(claims(), key.privateKey))).toEqual([401, 'signature_mismatch'])
  })

  test('needs an id where more than two keys fit', async () => {
    const [a, b, c] = [await createKey('ES256', { kid: 'a' }), await createKey(), await createKey()]
    const edKey = await createKey('EdDSA')
    const f = await setUp({}, [client({ jwks: { keys: [a.jwk, b.jwk, c.jwk, edKey.jwk] } })])
    expect(await outcomeOf(f, await sign(claims(), a.privateKey, { kid: 'a' }))).toEqual([200, undefined])
    expect(await outcomeOf(f, await sign(claims(), c.privateKey))).toEqual([401, 'key_ambiguous'])
    expect(await outcomeOf(f, await sign(claims(), edKey.privateKey, { alg: 'EdDSA' }))).toEqual([200, undefined])
  })

  // The header of the example in RFC 7523 section 2.2. The RFC omits the rest "for brevity".
  test('accepts an assertion with the header of the RFC', async () => {
    const clientKey = await createKey('RS256', { kid: '22' })
    const f = await setUp({}, [client({ jwks: { keys: [clientKey.jwk] } })])
    const jwt = await sign(claims(), clientKey.privateKey, { alg: 'RS256', kid: '22' })
    expect(jwt.split('.')[0]).toBe('eyJhbGciOiJSUzI1NiIsImtpZCI6IjIyIn0')
    expect(await outcomeOf(f, jwt)).toEqual([200, undefined])
  })

  // The claims of the example in RFC 7523 section 4: an authorization grant, not a client.
  test('rejects the authorization grant of the RFC', async () => {
    const example = {
      iss: 'https://jwt-idp.example.com',
      sub: 'mailto:mike@example.com',
      aud: 'https://jwt-rp.example.net',
      nbf: 1_300_815_780,
      exp: 1_300_819_380,
      'http://claims.example.com/member': true,
    }
    expect(await outcomeOf(await setUp(), await sign(example))).toEqual([401, 'client_unknown'])
  })
})

// RFC 6749 section 6: a client that did not get the response sends the same refresh token again, with a new assertion.
test('a retry of a refresh with another assertion gets the same tokens', async () => {
  const ownGrant = testGrant({
    grantType: 'urn:example:login',
    handle: ({ scopes }) => ({ scopes, subject: { sub: '1', amr: ['pwd'] } }),
  })
  const f = await createTestProvider({
    plugins: [ownGrant, refreshToken(), clientAssertion()],
    clients: [client({ grantTypes: ['urn:example:login', 'refresh_token'], scopes: ['api1', 'offline_access'] })],
  })
  const login = { grant_type: 'urn:example:login', scope: 'api1 offline_access' }
  const { body } = await present(f, await sign(claims()), login)
  const refresh = { grant_type: 'refresh_token', refresh_token: body.refresh_token, scope: '' }
  const first = await present(f, await sign(claims()), refresh)
  const retried = await present(f, await sign(claims()), refresh)
  expect([first.status, retried.status]).toEqual([200, 200])
  expect(retried.body.refresh_token).toBe(first.body.refresh_token)
  expect(f.events.some(({ type }) => type === 'refresh_reused')).toBe(false)
})

test('a client of a client store with keys at two places is a server_error', async () => {
  const f = await setUp({}, { find: () => client({ jwksUri: 'https://service.example.com/jwks' }) })
  expect((await present(f, await sign(claims()))).body).toEqual({ error: 'server_error' })
})

describe('at startup', () => {
  const { jwk } = key
  test.each<[string, object, string]>([
    [
      'a private key',
      { jwks: { keys: [{ ...jwk, d: 'x' }] } },
      'jwks.keys[0] must be a public key, without private members',
    ],
    ['a symmetric key', { jwks: { keys: [{ kty: 'oct', k: 'x' }] } }, 'jwks.keys[0].kty must be RSA, EC or OKP'],
    [
      'a short RSA key',
      { jwks: { keys: [{ kty: 'RSA', e: 'AQAB', n: 'x'.repeat(171) }] } },
      'jwks.keys[0] must have 2048 to 4096 bits',
    ],
    ['an incomplete key', { jwks: { keys: [{ kty: 'EC' }] } }, 'jwks.keys[0] is incomplete'],
    ['an empty set', { jwks: { keys: [] } }, 'jwks.keys must not be empty'],
    ['another algorithm', { tokenEndpointAuthSigningAlg: 'HS256' }, 'tokenEndpointAuthSigningAlg must be one of ES256'],
    [
      'keys at two places',
      { jwksUri: 'https://service.example.com/jwks' },
      'service has both jwks and jwksUri; remove one of them',
    ],
    ['http', { jwks: undefined, jwksUri: 'http://a.example.com/jwks' }, 'jwksUri must use https'],
    [
      'no keys',
      { jwks: undefined },
      'clients: service has no usable secret; add one, or set public: true, or configure it for private_key_jwt',
    ],
  ])('a client with %s is rejected', async (_, more, message) => {
    await expect(setUp({}, [client(more)])).rejects.toThrow(message)
  })

  test.each<[object, string]>([
    [{ algorithms: ['none'] }, 'clientAssertion(): algorithms[0] must be one of ES256'],
    [{ algorithms: ['HS256'] }, 'clientAssertion(): algorithms[0] must be one of ES256'],
    [{ algorithms: [] }, 'clientAssertion(): algorithms must not be empty'],
    [{ audience: 'any' }, 'clientAssertion(): audience must be "issuer" or "issuer or endpoint"'],
    [{ maxLifetime: 86_401 }, 'clientAssertion(): maxLifetime must be 10 to 86400 seconds'],
    [{ audiences: [] }, 'clientAssertion(): audiences is not a known option; did you mean audience?'],
    [{ jwksUri: { timout: 1 } }, 'clientAssertion(): jwksUri.timout is not a known option; did you mean timeout?'],
  ])('the options %j are rejected', async (options, message) => {
    expect(() => setUp(options)).toThrow(message)
  })
})
