import { type ClientOptions, createProvider, type Plugins, type ProviderEvent, signingKeys } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { proofKey } from '@grantry/plugins/proof-key'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { mapDriver, sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'

const redirectUris = ['https://app.example.com/callback']
const web: ClientOptions = {
  clientId: 'web',
  secrets: [{ sha256: sha256Of('web-secret') }],
  grantTypes: ['authorization_code', 'refresh_token', 'client_credentials'],
  scopes: ['openid', 'offline_access', 'api1'],
  redirectUris,
}
const withoutProofKey: Plugins = [authorizationCode(), clientCredentials(), refreshToken()]

/** The warnings about clients that cannot succeed. The provider starts anyway. */
async function warnings(
  clients: readonly ClientOptions[],
  plugins: Plugins = [withoutProofKey, proofKey()],
  reason = 'client_cannot_succeed',
) {
  const events: ProviderEvent[] = []
  const provider = await createProvider({
    issuer: 'https://id.example.com',
    keys: signingKeys(),
    storage: mapDriver(),
    clients,
    scopes: [{ name: 'api1' }],
    plugins,
    // None of the plugins calls it, which always causes a warning: without it an empty list would prove nothing.
    users: { authenticate: () => undefined },
    observe: (event) => events.push(event),
  })
  const of = (wanted: string) =>
    events.flatMap((event) => (event.type === 'startup_warning' && event.reason === wanted ? [event.message] : []))
  expect(of('passwords_unchecked')).toHaveLength(1)
  // The same rules run for a check.
  const findings = provider.findings().filter(({ id }) => id.replaceAll('-', '_') === reason)
  expect(of(reason)).toEqual(findings.map(({ reason: why }) => expect.stringContaining(`${why}; `)))
  return of(reason)
}

describe('warnings at start about clients that cannot succeed', () => {
  test('there are none for a valid configuration', async () => {
    expect(await warnings([web])).toEqual([])
  })

  test('a client with offline_access that may not use refresh_token', async () => {
    expect(await warnings([{ ...web, grantTypes: ['authorization_code'] }])).toEqual([
      'web has the scope offline_access but not the grant type refresh_token, so it gets no refresh tokens; complete the client, or remove it (docs/guides/configuration.md)',
    ])
  })

  test('every such client is reported', async () => {
    const useless = { ...web, grantTypes: ['authorization_code'] }
    expect(await warnings([useless, { ...useless, clientId: 'app' }])).toHaveLength(2)
  })
})

describe('codes without PKCE', () => {
  const sentence =
    'No plugin checks proof_key, so a stolen credential of authorization_code can be redeemed, and public clients cannot use it; add the plugin that checks it (RFC 9700 section 2.1.1)'
  const reported = (...args: Parameters<typeof warnings>) => warnings(args[0], args[1], 'demand_unchecked')

  test('are reported once, whatever clients there are, because a client store cannot be listed', async () => {
    expect(await reported([web], withoutProofKey)).toEqual([sentence])
    expect(await reported([], withoutProofKey)).toEqual([sentence])
  })

  test('are not reported with proofKey(), or without the code grant', async () => {
    expect(await reported([web])).toEqual([])
    expect(await reported([], [clientCredentials()])).toEqual([])
  })
})

describe('a redirect URI without TLS', () => {
  const reported = (...redirectUris: string[]) =>
    warnings([{ ...web, redirectUris }], undefined, 'redirect_without_tls')

  test('is reported with its client', async () => {
    expect(await reported('https://app.example.com/callback', 'http://app.example.com/callback')).toEqual([
      'http://app.example.com/callback of web is http: an attacker on the network can read its codes, or replace its page; use https, or a loopback URI (RFC 9700 section 2.6)',
    ])
  })

  test('is reported among those after a sign-out, and not of a disabled client', async () => {
    const postLogoutRedirectUris = ['http://app.example.com/']
    const of = (more: Partial<ClientOptions>) =>
      warnings([{ ...web, postLogoutRedirectUris, ...more }], undefined, 'redirect_without_tls')
    expect(await of({})).toEqual([expect.stringContaining('or replace its page')])
    expect(await of({ enabled: false, redirectUris: postLogoutRedirectUris })).toEqual([])
  })

  test.each([
    'http://127.0.0.1/callback',
    'http://127.8.9.1:3000/callback',
    'http://[::1]/callback',
    'http://localhost:3000/callback',
    'http://app.localhost:3000/callback',
    'com.example.app:/callback',
  ])('is not reported for %s', async (uri) => {
    expect(await reported(uri)).toEqual([])
  })

  test.each(['http://127.0.0.1.example.com/callback', 'http://localhost.example.com/callback', 'http://10.0.0.1/cb'])(
    'is reported for %s',
    async (uri) => {
      expect(await reported(uri)).toHaveLength(1)
    },
  )
})
