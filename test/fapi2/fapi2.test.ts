import { type ClientOptions, defineFields, definePlugin } from '@grantry/core'
import { clientAssertion } from '@grantry/plugins/client-assertion'
import { dpop } from '@grantry/plugins/dpop'
import { type Fapi2Options, fapi2 } from '@grantry/plugins/fapi2'
import { createTestProvider, storeGrant, type TestProvider } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { holder, tokenUrl } from '../dpop/parties.ts'
import { proof as pkce } from '../support/fixture.ts'
import { client, grants, redirectUri, request, start } from './parties.ts'

const credentials = { grant_type: 'client_credentials', scope: 'api1' }

describe('the configuration of a client with the profile', () => {
  test.each<[string, Partial<Record<keyof ClientOptions, unknown>>, string]>([
    ['public', { public: true, jwks: undefined, refreshToken: {} }, 'clients[0] ("bank-app"): public must be false'],
    [
      'another authentication method',
      { tokenEndpointAuthMethod: 'client_secret_basic' },
      'tokenEndpointAuthMethod must be "private_key_jwt"',
    ],
    [
      'no authentication method',
      { tokenEndpointAuthMethod: undefined },
      'tokenEndpointAuthMethod must be "private_key_jwt"',
    ],
    ['RS256 for assertions', { tokenEndpointAuthSigningAlg: 'RS256' }, 'tokenEndpointAuthSigningAlg must be "PS256"'],
    [
      'any algorithm for assertions',
      { tokenEndpointAuthSigningAlg: undefined },
      'tokenEndpointAuthSigningAlg must be "PS256"',
    ],
    ['bearer tokens', { dpopBoundAccessTokens: false }, 'dpopBoundAccessTokens must be true'],
    [
      'requests that are not pushed',
      { requirePushedAuthorizationRequests: false },
      'requirePushedAuthorizationRequests must be true (FAPI 2.0, 5.3.2.2, 3)',
    ],
    ['no PKCE', { requirePkce: undefined }, 'requirePkce must be true (FAPI 2.0, 5.3.2.2, 5)'],
    ['plain challenges', { allowPlainPkce: true }, 'allowPlainPkce must be false'],
    [
      'assertions for the token endpoint',
      { tokenEndpointAuthAudience: 'issuer or endpoint' },
      'tokenEndpointAuthAudience must be "issuer" (FAPI 2.0, 5.3.2.1, 8)',
    ],
    ['the password grant', { grantTypes: ['password'] }, 'grantTypes must not contain password'],
    ['a redirect URI without TLS', { redirectUris: ['http://localhost/callback'] }, 'redirectUris must not contain'],
    ['a scheme in capitals', { redirectUris: ['HTTP://client.example.com/callback'] }, 'redirectUris must not contain'],
    ['a long-lived code', { authorizationCodeLifetime: 61 }, 'authorizationCodeLifetime must be at most 60 seconds'],
    ['rotation of refresh tokens', { refreshToken: { usage: 'rotate' } }, 'refreshToken.usage must be "reuse"'],
    ['RS256 for identity tokens', { identityTokenAlgorithm: 'RS256' }, 'identityTokenAlgorithm must be "PS256"'],
    [
      'the default algorithm for identity tokens',
      { identityTokenAlgorithm: undefined },
      'identityTokenAlgorithm must be',
    ],
    ['an unknown profile', { profile: 'fapi1' }, 'profile must be "fapi2"'],
  ])('is refused with %s', async (_, change, message) => {
    await expect(start([{ ...client, ...change } as ClientOptions])).rejects.toThrow(message)
  })

  test('names the clause of the profile', async () => {
    await expect(start([{ ...client, dpopBoundAccessTokens: false }])).rejects.toThrow(
      'clients[0] ("bank-app"): dpopBoundAccessTokens must be true, or tlsClientCertificateBoundAccessTokens (FAPI 2.0, 5.3.2.1, 4)',
    )
  })

  test('is checked when a client store returns it', async () => {
    const wrong = { ...client, authorizationCodeLifetime: 61 }
    const f = await start([], {}, { clients: { find: () => wrong } })
    expect((await request(f, credentials)).status).toBe(500)
    expect(JSON.stringify(f.events)).toContain('must be at most 60 seconds')
  })

  test('does not matter for other clients, unless the profile is for all', async () => {
    const { profile, dpopBoundAccessTokens, ...withoutProfile } = client
    await expect(start([withoutProfile])).resolves.toBeDefined()
    await expect(start([withoutProfile], { clients: 'all' })).rejects.toThrow('dpopBoundAccessTokens must be true')
  })

  test('needs the issuer in assertions, also if the default for other clients is wider', async () => {
    const { tokenEndpointAuthAudience, ...unset } = client
    await expect(start([unset])).rejects.toThrow('tokenEndpointAuthAudience must be "issuer"')
    const narrow = [grants, clientAssertion({ audience: 'issuer' }), dpop(), fapi2()]
    await expect(createTestProvider({ plugins: narrow, clients: [unset] })).resolves.toBeDefined()
    const f = await start([client])
    const { prove } = await holder()
    expect((await request(f, credentials, { proof: await prove(), aud: tokenUrl })).status).toBe(401)
    expect((await request(f, credentials, { proof: await prove() })).status).toBe(200)
  })
})

describe('a client with the profile', () => {
  test('gets tokens that are bound to its key', async () => {
    const [f, { prove }] = [await start([client]), await holder()]
    const { status, body } = await request(f, credentials, { proof: await prove() })
    expect([status, body.token_type]).toEqual([200, 'DPoP'])
  })

  test('gets no token without a key', async () => {
    const { status, body } = await request(await start([client]), credentials)
    expect([status, body.error]).toEqual([400, 'invalid_request'])
  })

  test('gets no token without a key, even if no binding requires one', async () => {
    const certificates = definePlugin('certificates', [
      defineFields({ client: { tlsClientCertificateBoundAccessTokens: v.boolean() } }),
    ])
    const f = await createTestProvider({
      plugins: [grants, clientAssertion(), dpop(), certificates, fapi2()],
      clients: [
        { ...client, dpopBoundAccessTokens: false, tlsClientCertificateBoundAccessTokens: true } as ClientOptions,
      ],
    })
    const { status, body, reason } = await request(f, credentials)
    expect([status, body.error, reason]).toEqual([400, 'invalid_request', 'plugin:fapi2:key_missing'])
  })

  test.each<[string, unknown]>([
    ['the token endpoint', tokenUrl],
    ['an array', ['https://id.example.com']],
    ['an array with the token endpoint', ['https://id.example.com', tokenUrl]],
    ['another server', 'https://other.example.com'],
  ])('is refused with an assertion for %s', async (_, aud) => {
    const [f, { prove }] = [await start([client]), await holder()]
    const { status, body } = await request(f, credentials, { proof: await prove(), aud })
    expect([status, body.error]).toEqual([401, 'invalid_client'])
  })

  const authorize = (f: TestProvider, params: Readonly<Record<string, string>>) =>
    storeGrant(f.provider, {
      kind: 'code',
      clientId: client.clientId,
      redirectUri,
      scopes: ['openid', 'offline_access'],
      subject: { sub: 'alice', amr: ['pwd'] },
      params,
    })

  test.each<[Readonly<Record<string, string>>, string]>([
    [{}, 'challenge_required'],
    [{ code_challenge: pkce.verifier }, 'plain_not_allowed'],
    [{ code_challenge: pkce.verifier, code_challenge_method: 'plain' }, 'plain_not_allowed'],
  ])('needs PKCE with S256: %j', async (params, reason) => {
    const refusal = { code: 'invalid_request', details: { reason: `plugin:proof-key:${reason}` } }
    await expect(authorize(await start([client]), params)).rejects.toMatchObject(refusal)
  })

  test('can refresh with a new key and the same refresh token', async () => {
    const [f, first, second] = [await start([client]), await holder(), await holder()]
    const code = await authorize(f, { code_challenge: pkce.challenge, code_challenge_method: 'S256' })
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: pkce.verifier }
    const { body } = await request(f, form, { proof: await first.prove() })
    const refresh = { grant_type: 'refresh_token', refresh_token: body.refresh_token }
    for (const { prove } of [second, first, second]) {
      const refreshed = await request(f, refresh, { proof: await prove() })
      expect([refreshed.status, refreshed.body.token_type]).toEqual([200, 'DPoP'])
    }
    expect((await request(f, refresh)).body.error).toBe('invalid_request')
  })
})

test('fapi2() refuses an unknown option', () => {
  expect(() => fapi2({ clients: 'some' } as unknown as Fapi2Options)).toThrow('clients must be "all" or "marked"')
})
