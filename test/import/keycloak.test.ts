// `grantry import keycloak`: a realm, whose clients and users keep their secrets and passwords.
import { expect, test } from 'vitest'
import { sharedDirectory } from '../support/directory.ts'
import { keycloakCredentials, password } from '../users/hash-vectors.ts'
import { applied, imported, refusal, token } from './setting.ts'

const directory = sharedDirectory('import-keycloak')
const secret = 'kLm3nOpQrStUvWxYz0123456789abcdE'

const client = (clientId: string, more: object = {}) => ({
  id: `id-of-${clientId}`,
  clientId,
  surrogateAuthRequired: false,
  enabled: true,
  alwaysDisplayInConsole: false,
  clientAuthenticatorType: 'client-secret',
  redirectUris: [],
  webOrigins: [],
  notBefore: 0,
  bearerOnly: false,
  consentRequired: false,
  standardFlowEnabled: false,
  implicitFlowEnabled: false,
  directAccessGrantsEnabled: false,
  serviceAccountsEnabled: false,
  publicClient: false,
  frontchannelLogout: false,
  protocol: 'openid-connect',
  attributes: {},
  authenticationFlowBindingOverrides: {},
  fullScopeAllowed: true,
  nodeReRegistrationTimeout: -1,
  defaultClientScopes: ['web-origins', 'acr', 'roles', 'profile', 'basic', 'email'],
  optionalClientScopes: ['address', 'phone', 'offline_access', 'microprofile-jwt'],
  ...more,
})

const user = (username: string, credential: object | undefined, more: object = {}) => ({
  id: `00000000-0000-4000-8000-${username.padStart(12, '0')}`,
  createdTimestamp: 1_700_000_000_000,
  username,
  enabled: true,
  totp: false,
  emailVerified: true,
  email: `${username}@example.com`,
  firstName: 'Alice',
  lastName: 'Smith',
  credentials: credential === undefined ? [] : [{ id: 'c', type: 'password', createdDate: 1, ...credential }],
  disableableCredentialTypes: [],
  requiredActions: [],
  realmRoles: ['default-roles-demo', 'admin'],
  notBefore: 0,
  groups: [],
  ...more,
})

const realm = {
  id: 'demo',
  realm: 'demo',
  enabled: true,
  accessTokenLifespan: 300,
  bruteForceProtected: true,
  roles: { realm: [{ name: 'admin' }] },
  clients: [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Keycloak writes the names of its own texts like this.
    client('account', { name: '${client_account}', redirectUris: ['/realms/demo/account/*'] }),
    client('web', {
      name: `\${HOME}`,
      secret,
      rootUrl: 'https://web.example.com',
      redirectUris: ['/callback', 'https://old.example.com/*'],
      webOrigins: ['+'],
      standardFlowEnabled: true,
      directAccessGrantsEnabled: true,
      attributes: {
        'post.logout.redirect.uris': '+##https://web.example.com/bye',
        'access.token.lifespan': '600',
        'pkce.code.challenge.method': 'S256',
        'client.secret.rotated': 'an-earlier-secret-of-the-client',
        'saml.force.post.binding': 'true',
      },
      defaultClientScopes: ['profile', 'billing'],
    }),
    client('batch', {
      secret,
      serviceAccountsEnabled: true,
      optionalClientScopes: [],
      defaultClientScopes: ['billing'],
    }),
    client('masked', {
      secret: '**********',
      serviceAccountsEnabled: true,
      defaultClientScopes: [],
      optionalClientScopes: [],
    }),
    client('spa', { publicClient: true, standardFlowEnabled: true, redirectUris: ['https://spa.example.com/'] }),
    client('api', { bearerOnly: true }),
    client('saml-app', { protocol: 'saml' }),
  ],
  clientScopes: [
    {
      name: 'billing',
      protocol: 'openid-connect',
      attributes: { 'include.in.token.scope': 'true' },
      protocolMappers: [
        {
          name: 'aud',
          protocolMapper: 'oidc-audience-mapper',
          config: { 'included.custom.audience': 'https://billing' },
        },
        { name: 'script', protocolMapper: 'oidc-script-based-protocol-mapper', config: {} },
      ],
    },
    { name: 'profile', protocol: 'openid-connect' },
  ],
  users: [
    user('argon', keycloakCredentials.argon2),
    user('pbkdf', keycloakCredentials['pbkdf2-sha256'], { attributes: { locale: ['en'], shoeSize: ['42'] } }),
    user('plain', { value: 'a-password-in-the-file', temporary: true }),
    user('odd', { credentialData: '{"algorithm":"scrypt"}', secretData: '{}' }, { enabled: false, groups: ['/staff'] }),
    user('service-account-batch', undefined, { serviceAccountClientId: 'batch' }),
  ],
}

test('clients and users keep their secrets and passwords', async () => {
  const { file, text, declared } = await imported(directory, 'keycloak', realm)
  expect(text).not.toContain(secret)
  expect(text).not.toContain('a-password-in-the-file')
  expect(declared.clients.map(({ clientId }: { clientId: string }) => clientId)).toEqual([
    'web',
    'batch',
    'masked',
    'spa',
  ])
  expect(declared.clients[0]).toMatchObject({
    grantTypes: ['authorization_code', 'password', 'refresh_token'],
    scopes: ['openid', 'offline_access', 'profile', 'billing', 'address', 'phone'],
    redirectUris: ['https://web.example.com/callback'],
    postLogoutRedirectUris: ['https://web.example.com/callback', 'https://web.example.com/bye'],
    allowedCorsOrigins: ['https://web.example.com'],
    accessTokenLifetime: 600,
    requirePkce: true,
    requireConsent: false,
  })
  expect(declared.scopes).toEqual([{ name: 'billing', audience: 'https://billing' }])
  expect(declared.users[1]).toMatchObject({
    sub: '00000000-0000-4000-8000-0000000pbkdf',
    claims: { name: 'Alice Smith', email: 'pbkdf@example.com', email_verified: true, locale: 'en', role: ['admin'] },
  })
  const signIn = (username: string, typed: string) =>
    [['web', secret], { grant_type: 'password', username, password: typed, scope: 'openid billing' }] as const
  const bodies = await applied(directory, file, [
    signIn('argon', password),
    signIn('pbkdf', password),
    signIn('plain', 'a-password-in-the-file'),
    signIn('argon', 'another password'),
    signIn('odd', password),
    [['batch', secret], { grant_type: 'client_credentials', scope: 'billing' }],
    [['batch', 'an-earlier-secret-of-the-client'], { grant_type: 'client_credentials' }],
  ])
  expect(bodies).toEqual([
    token,
    token,
    token,
    refusal('invalid_grant'),
    refusal('invalid_grant'),
    token,
    refusal('invalid_client'),
  ])
})

test('the report names everything that has no counterpart, and no secret', async () => {
  const { report, text } = await imported(directory, 'keycloak', realm)
  for (const line of [
    'realm demo: bruteForceProtected: has no counterpart',
    'client scope billing: protocolMappers: the mapper script (oidc-script-based-protocol-mapper) has no counterpart',
    'client account: was left out: it belongs to Keycloak itself',
    'client web: redirectUris: https://old.example.com/* was left out: it contains a wildcard: list the URIs',
    'client web: attributes.client.secret.rotated: was left out: only the present secret is taken over',
    'client web: attributes.saml.force.post.binding: has no counterpart',
    'client masked: secret: is not in the export; the client gets a new secret',
    'client masked: has no scope, so it cannot get a token; add one to scopes',
    'client api: was left out: it is an API: declare a scope with a secret for it',
    'client saml-app: was left out: it uses the protocol saml',
    'user pbkdf: attributes.shoeSize: has no counterpart',
    'user plain: credentials[0]: is temporary in Keycloak; here the user can keep it',
    'user odd: credentials[0]: the password was left out: its algorithm is not known',
    'user odd: groups: has no counterpart',
    'user service-account-batch: was left out: it is the service account of the client batch',
  ]) {
    expect(report).toContain(line)
  }
  expect(report.at(-1)).toMatch(
    /^Imported 4 clients \(2 with secrets, 0 disabled\), 1 scope, 4 users \(3 with passwords, 1 disabled\); 26 notes: 16 can break/u,
  )
  for (const hidden of [secret, 'an-earlier-secret', 'a-password']) expect(report.join('\n')).not.toContain(hidden)
  // The name that a client has chosen must not become a variable of the administrator.
  expect(text).toContain(`"clientName": "$\${HOME}"`)
})
