// What `grantry import` keeps of each system, what it changes, and what its report says of that: the worst first.
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { sharedDirectory } from '../support/directory.ts'
import { imported } from './setting.ts'

const directory = sharedDirectory('import-report')
const hash = (secret: string) => createHash('sha256').update(secret).digest('base64')
const uri = 'https://web.example.com/cb'
const code = { ClientSecrets: [{ Value: hash('a-secret-of-this-client') }], RedirectUris: [uri] }

interface Declared {
  readonly clients: readonly Readonly<Record<string, unknown>>[]
  readonly scopes: readonly Readonly<Record<string, unknown>>[]
  readonly users: readonly Readonly<Record<string, unknown>>[]
}
const read = async (system: string, content: unknown) => {
  const { declared, report, printed } = await imported(directory, system, content)
  return { declared: declared as Declared, report, printed }
}

describe('PKCE and consent of IdentityServer', () => {
  const cases: readonly (readonly [what: string, client: object, resources: object[], expected: object])[] = [
    ['3, code', { Flow: 0 }, [], { requirePkce: undefined, requireConsent: undefined }],
    ['3, hybrid', { Flow: 'Hybrid' }, [], { requirePkce: undefined, requireConsent: undefined }],
    ['3, code with a proof key', { Flow: 6 }, [], { requirePkce: true, requireConsent: undefined }],
    [
      '3, hybrid with a proof key',
      { Flow: 'hybridWithProofKey' },
      [],
      { requirePkce: true, requireConsent: undefined },
    ],
    ['3, without consent', { Flow: 0, RequireConsent: false }, [], { requirePkce: undefined, requireConsent: false }],
    ['4.0', { AllowedGrantTypes: ['authorization_code'] }, [], { requirePkce: true, requireConsent: false }],
    [
      '4.0, without PKCE',
      { AllowedGrantTypes: ['authorization_code'], RequirePkce: false, RequireConsent: true },
      [],
      { requirePkce: undefined, requireConsent: undefined },
    ],
    [
      '4 before 4.0',
      { AllowedGrantTypes: ['hybrid'] },
      [{ Name: 'api', Scopes: [{ Name: 'api' }] }],
      { requirePkce: undefined, requireConsent: undefined },
    ],
  ]
  test.each(cases)(
    '%s',
    async (_what, client, ApiResources, {
      requirePkce,
      requireConsent,
    }: { requirePkce?: unknown; requireConsent?: unknown }) => {
      const { declared } = await read('identityserver', {
        Clients: [{ ClientId: 'web', ...code, ...client }],
        ApiResources,
      })
      expect(declared.clients[0]?.requirePkce).toBe(requirePkce)
      expect(declared.clients[0]?.requireConsent).toBe(requireConsent)
    },
  )
})

test('a scope of several APIs has all of them as its audience', async () => {
  const { declared, report } = await read('identityserver', {
    ApiScopes: [
      { Name: 'read', ShowInDiscoveryDocument: false },
      { Name: 'off', Enabled: false },
    ],
    ApiResources: [
      { Name: 'gone', Enabled: false, Scopes: ['read', 'only-gone'] },
      {
        Name: 'https://api.example',
        Scopes: ['read', { Name: 'old', UserClaims: ['role'] }],
        ApiSecrets: [{ Value: hash('one') }],
      },
      { Name: 'other', Scopes: ['read', 'off'], ApiSecrets: [{ Value: hash('two') }] },
    ],
    Clients: [{ ClientId: 'm', AllowedGrantTypes: ['client_credentials'], AllowedScopes: ['read'], ...code }],
    Users: [{ Subject: '1' }],
  })
  expect(declared.scopes).toEqual([
    {
      name: 'read',
      audience: ['https://api.example', 'other'],
      secrets: [{ sha256: hash('one') }, { sha256: hash('two') }],
    },
    { name: 'off', enabled: false, audience: 'other' },
    { name: 'old', audience: 'https://api.example', claims: ['role'] },
    { name: 'only-gone', enabled: false },
  ])
  const all = report.join('\n')
  expect(all).toContain(
    'API resource other: Scopes: read is a scope of https://api.example and other: requests have to',
  )
  expect(all).toContain('API scope read: ShowInDiscoveryDocument: the scope is in scopes_supported')
  expect(all).toContain('Users: users are not imported')
})

describe('Keycloak', () => {
  const web = (clientId: string, more: object = {}) => ({
    clientId,
    secret: 'a-secret-of-this-client',
    redirectUris: [uri],
    optionalClientScopes: [],
    ...more,
  })

  test('clients get refresh tokens without offline_access, and for as long', async () => {
    const { declared, report } = await read('keycloak', {
      realm: 'r',
      ssoSessionIdleTimeout: 1800,
      ssoSessionMaxLifespan: 36_000,
      offlineSessionIdleTimeout: 2_592_000,
      clients: [
        web('web'),
        web('own', { attributes: { 'client.session.idle.timeout': '600', 'client.session.max.lifespan': '3600' } }),
        web('none', { attributes: { 'use.refresh.tokens': 'false' } }),
        web('passwords', { directAccessGrantsEnabled: true, standardFlowEnabled: false }),
      ],
    })
    expect(declared.clients.map(({ refreshToken }) => refreshToken)).toEqual([
      { unasked: 'always', slidingLifetime: 1800, absoluteLifetime: 36_000 },
      { unasked: 'always', slidingLifetime: 600, absoluteLifetime: 3600 },
      undefined,
      { slidingLifetime: 1800, absoluteLifetime: 36_000 },
    ])
    const all = report.join('\n')
    expect(all).toContain(
      'client passwords: attributes.use.refresh.tokens: a request with the grant type password gets',
    )
    expect(all).toContain('offlineSessionIdleTimeout: refresh tokens for offline_access end as those of sessions')
  })

  test('what users and APIs notice comes in the order of its consequence', async () => {
    const { printed, report } = await read('keycloak', {
      realm: 'r',
      components: {
        'org.keycloak.storage.UserStorageProvider': [{ name: 'corp', providerId: 'ldap' }],
        'org.keycloak.keys.KeyProvider': [{ name: 'rsa', providerId: 'rsa-generated' }],
        'org.keycloak.services.clientregistration.policy.ClientRegistrationPolicy': [{ name: 'x', providerId: 'y' }],
      },
      identityProviders: [{ alias: 'acme' }],
      loginTheme: 'acme',
      somethingNew: { a: 1 },
      clients: [
        web('pairwise', { protocolMappers: [{ name: 'pw', protocolMapper: 'oidc-sha256-pairwise-sub-mapper' }] }),
        ...['a', 'b', 'c', 'd', 'e', 'f'].map((name) => web(`client-${name}`)),
      ],
      users: [
        { id: 'u-1', username: 'ann', email: 'ann@example.com', enabled: true, realmRoles: ['admin'] },
        { id: 'u-2', username: 'bob@example.com', email: 'bob@example.com', enabled: true, federationLink: 'x' },
      ],
    })
    const places = [
      'Breaks a sign-in, a sign-out or a request for tokens:',
      'the users of corp (ldap) are not in the export: configure users with the driver ldap or sql (lost)',
      'Changes the sub of users:',
      'client pairwise: protocolMappers: the mapper pw (oidc-sha256-pairwise-sub-mapper) has no counterpart: users of the',
      'Changes a token or a response:',
      'realm r: components: the signing keys rsa (rsa-generated) are not imported',
      'Depends on its meaning in the other system:',
      'realm r: somethingNew: has no counterpart (lost)',
      'Changes nothing that users or APIs need:',
      'realm r: loginTheme: has no counterpart (lost)',
      'Imported 7 clients (7 with secrets, 0 disabled), 0 scopes, 2 users (0 with passwords, 0 disabled); ',
    ].map((text) => printed.indexOf(text))
    expect(places).not.toContain(-1)
    expect(places).toEqual([...places].sort((left, right) => left - right))
    for (const line of [
      'user ann: email: the user cannot sign in with the address, because it is not verified: say that the name counts',
      'realm r: roles: roles are in the claim role of the scope roles, not in realm_access.roles and resource_access',
      'realm r: identityProviders: users sign in at other providers: configure upstream of the plugin sign-in',
      'user bob@example.com: federationLink: belongs to a directory: the user has no password here',
      // Common lines once.
      'client pairwise, client client-a, client client-b, client client-c, client client-d and 2 more: the configuration needs the plugin sign-in',
      'all clients: sessions, refresh tokens and reference tokens are not in an export: users sign in once',
    ])
      expect(report).toContain(line)
  })
})

test('pairwise subjects are named by each import', async () => {
  const registered = [
    {
      client_id: 'w',
      client_secret: 'a-secret-of-this-client',
      subject_type: 'pairwise',
      scope: 'openid',
      redirect_uris: [uri],
    },
  ]
  for (const [system, content, line] of [
    ['hydra', registered, 'client w: subject_type: has no counterpart: users of the client get another sub'],
    ['oidc-provider', registered, 'client w: subject_type: has no counterpart: users of the client get another sub'],
    [
      'identityserver',
      [{ ClientId: 'w', ...code, AllowedGrantTypes: ['authorization_code'], PairWiseSubjectSalt: 's' }],
      'client w: PairWiseSubjectSalt: has no counterpart: users of the client get another sub',
    ],
  ] as const) {
    const { report } = await read(system, content)
    expect(report).toContain(line)
    expect(report.indexOf(line)).toBe(report.indexOf('Changes the sub of users:') + 1)
  }
})
