import { type ClientOptions, createProvider, type ProviderOptions, type ScopeOptions, signingKeys } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { password } from '@grantry/plugins/password'
import { proofKey } from '@grantry/plugins/proof-key'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { mapDriver, sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'

const secrets = [{ sha256: sha256Of('web-secret') }]
const web: ClientOptions = { clientId: 'web', secrets, grantTypes: ['client_credentials'], scopes: ['api1'] }
const users = { authenticate: () => undefined }

const start = (more: Partial<ProviderOptions>) =>
  createProvider({
    issuer: 'https://id.example.com',
    keys: signingKeys(),
    storage: mapDriver(),
    clients: [web],
    scopes: [{ name: 'api1' }],
    users,
    plugins: [clientCredentials(), password(), authorizationCode(), proofKey(), refreshToken()],
    ...more,
  })

const startClient = (more: Partial<ClientOptions>) => start({ clients: [{ ...web, ...more }] })
const startScopes = (...scopes: ScopeOptions[]) => start({ scopes: [{ name: 'api1' }, ...scopes] })
const refusal = (message: unknown) => ({ name: 'TypeError', message })

describe('clients', () => {
  test('rejects a grant type that no plugin provides, and lists the known ones', async () => {
    await expect(startClient({ grantTypes: ['client_credentials', 'device_code'] })).rejects.toMatchObject(
      refusal(
        'clients: web uses the grant type device_code, which no plugin provides; known grant types: client_credentials, password, ' +
          'authorization_code, refresh_token',
      ),
    )
  })

  test('the error is complete even without plugins', async () => {
    await expect(start({ plugins: [] })).rejects.toMatchObject(
      refusal(
        expect.stringMatching(
          /^clients: web uses the grant type client_credentials, which no plugin provides(?!; known grant types: $)/u,
        ),
      ),
    )
  })

  test('rejects an undeclared scope', async () => {
    await expect(startClient({ scopes: ['api1', 'api2'] })).rejects.toMatchObject(
      refusal(
        "clients: web has the scope api2, which is not declared in scopes; correct it, or add { name: 'api2' } to scopes",
      ),
    )
  })

  test('the standard scopes need no declaration', async () => {
    const scopes = ['openid', 'profile', 'email', 'address', 'phone', 'roles', 'offline_access']
    await expect(startClient({ scopes })).resolves.toBeDefined()
  })

  test('rejects two clients with the same id', async () => {
    await expect(start({ clients: [web, { ...web, enabled: false }] })).rejects.toMatchObject(
      refusal('clients: two clients have the clientId web'),
    )
  })

  test('rejects a confidential client with a grant and without a secret', async () => {
    await expect(startClient({ secrets: [] })).rejects.toMatchObject(
      refusal('clients: web has no usable secret; add one, or set public: true'),
    )
  })

  test.each([
    ['is disabled', { enabled: false }],
    ['has no grant type', { grantTypes: [] }],
  ])('a client that %s needs no secret', async (_what, more) => {
    await expect(startClient({ secrets: [], ...more })).resolves.toBeDefined()
  })

  // It would look protected, but every copy of the app would contain the secret.
  test('rejects a public client with secrets', async () => {
    await expect(startClient({ public: true, grantTypes: ['refresh_token'] })).rejects.toMatchObject(
      refusal('clients[0] ("web"): secrets must be empty for a public client, which cannot keep a secret'),
    )
  })

  test.each(['client_credentials', 'password'])('rejects a public client that may use %s', async (grantType) => {
    await expect(startClient({ public: true, secrets: [], grantTypes: [grantType] })).rejects.toMatchObject(
      refusal(`clients: web is public but uses ${grantType}, which requires a client with a secret`),
    )
  })

  test.each([
    ['none', {}],
    ['an empty list', { redirectUris: [] }],
  ])('rejects a client for codes without a redirect URI: %s', async (_what, more) => {
    await expect(startClient({ grantTypes: ['authorization_code'], ...more })).rejects.toMatchObject(
      refusal(
        'clients: web uses authorization_code but has no redirectUris, so it cannot get a code; add a redirect URI',
      ),
    )
  })

  test.each([
    ['is disabled', { enabled: false, grantTypes: ['authorization_code'] }],
    ['does not use codes', { grantTypes: ['client_credentials'] }],
  ])('a client that %s needs no redirect URI', async (_what, more) => {
    await expect(startClient(more)).resolves.toBeDefined()
  })

  const spa: ClientOptions = {
    clientId: 'spa',
    public: true,
    grantTypes: ['authorization_code'],
    redirectUris: ['https://spa.example.com/callback'],
  }

  test('rejects a public client for codes if no plugin checks its code_verifier', async () => {
    await expect(start({ clients: [spa], plugins: [authorizationCode()] })).rejects.toMatchObject(
      refusal(
        'clients: spa cannot use authorization_code, because it requires proof_key, which no plugin checks; add the plugin that checks it',
      ),
    )
    await expect(start({ clients: [spa] })).resolves.toBeDefined()
    const plugins = [authorizationCode(), refreshToken()]
    await expect(start({ clients: [{ ...spa, grantTypes: ['refresh_token'] }], plugins })).resolves.toBeDefined()
  })

  test('rejects a public client that reuses its refresh tokens, and names the option', async () => {
    const more: Partial<ClientOptions> = {
      public: true,
      secrets: [],
      grantTypes: ['refresh_token'],
      refreshToken: { usage: 'reuse' },
    }
    await expect(startClient(more)).rejects.toMatchObject(
      refusal('clients[0] ("web"): refreshToken.usage must be "rotate" for a public client'),
    )
  })
})

describe('scopes', () => {
  test('rejects two scopes with the same name', async () => {
    await expect(startScopes({ name: 'api1' })).rejects.toMatchObject(refusal('scopes: two scopes have the name api1'))
  })

  test.each(['openid', 'profile', 'roles'])('%s cannot be declared as an API', async (name) => {
    await expect(startScopes({ name })).rejects.toMatchObject(
      refusal(
        `scopes[1] ("${name}"): ${name} is an identity scope of OpenID Connect; set identity: true, or use another name`,
      ),
    )
  })

  test('a standard scope may be redefined', async () => {
    const { metadata } = await startScopes({ name: 'profile', identity: true, claims: ['nickname'] })
    expect(metadata.claims_supported).not.toContain('family_name')
  })

  test.each(['iss', 'aud', 'exp', 'scope', 'client_id', 'sub', 'cnf', '__proto__'])(
    'rejects a scope that requests the protocol claim %s',
    async (claim) => {
      await expect(startScopes({ name: 'api2', claims: ['department', claim] })).rejects.toMatchObject(
        refusal(`scopes: api2 has the claim ${claim}, which is reserved for the protocol; remove it`),
      )
    },
  )

  test('an identity scope may name sub, and no other protocol claim', async () => {
    await expect(startScopes({ name: 'me', identity: true, claims: ['sub'] })).resolves.toBeDefined()
    await expect(startScopes({ name: 'me', identity: true, claims: ['sub', 'idp'] })).rejects.toMatchObject(
      refusal('scopes: me has the claim idp, which is reserved for the protocol; remove it'),
    )
  })
})
