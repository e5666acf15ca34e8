import { client, codeClient, type FindingCase, type HealthyCase, hashed, healthy, strong } from './configurations.ts'

const { keys: _, ...withoutFile } = healthy
const withTenants = (tenants: object, more: object = {}) => ({ ...withoutFile, ...more, tenants })
/** One client of a tenant, beside a configuration in which nothing is found. */
const withTenantClient = (more: object, configuration: object = {}) => {
  const app = { ...client, clientId: 'app', secrets: [hashed(strong('app'))], ...more }
  const scopes = [{ name: 'api1', secrets: [hashed(strong('api1 of acme'))] }]
  return withTenants({ list: [{ name: 'acme', clients: [app], scopes }] }, configuration)
}
const encrypted = { keys: { encryptionSecret: strong('keys') } }
const ofTenant = 'tenants.list[0].clients[0]'

/** Tenants in which nothing is found, beside keys in the storage. */
export const healthyTenants: readonly HealthyCase[] = [
  ['a tenant', withTenantClient({}, encrypted)],
  [
    'a scope that can be in the storage of a tenant',
    withTenantClient({ scopes: ['api2'] }, { ...encrypted, administration: true }),
  ],
]
const withOrganizations = (organizations: object, more: object = {}) => ({
  ...healthy,
  plugins: [{ name: 'sign-in', organizations, ...more }],
})

const statingGroups = (name: string) => ({
  name,
  issuer: `https://${name}.example.com`,
  clientId: 'grantry',
  clientSecret: 'a secret of a test',
  claims: { groups: 'groups' },
})

/** Configurations with tenants, with what the doctor finds. */
export const tenantCases: readonly FindingCase[] = [
  [
    'tenants that would all sign with one key file',
    { ...healthy, tenants: {} },
    { id: 'tenant-unusable', severity: 'error', where: 'tenants' },
  ],
  [
    'a tenant whose plugin has an unknown option',
    withTenants({ list: [{ name: 'acme', plugins: [{ name: 'dpop', unknown: 1 }] }] }),
    { id: 'tenant-unusable', severity: 'error', where: 'tenants.list[0]' },
  ],
  [
    'a tenant whose users have accounts, without a server for mails',
    withTenants({ list: [{ name: 'acme', plugins: [{ name: 'sign-in', accounts: {} }] }] }, { administration: true }),
    { id: 'tenant-unusable', severity: 'error', where: 'tenants.list[0]' },
  ],
  [
    'a tenant with the host of the server',
    withTenants({ by: 'host', list: [{ name: 'id.example.com' }] }),
    { id: 'tenant-unusable', severity: 'error', where: 'tenants' },
  ],
  [
    'an organization with the name of a user instead of the sub',
    withOrganizations({ list: [{ name: 'acme', members: ['alice'] }] }),
    {
      id: 'organization-member-unknown',
      severity: 'warning',
      where: 'plugins[0].organizations.list[0].members',
    },
  ],
  [
    'organizations by a claim that no user has',
    withOrganizations({ claim: 'groups' }),
    { id: 'organization-claim-unused', severity: 'warning', where: 'plugins[0].organizations.claim' },
  ],
  [
    'organizations by a claim that two providers state',
    withOrganizations({ claim: 'groups' }, { providers: [statingGroups('acme'), statingGroups('beta')] }),
    { id: 'organization-claim-of-providers', severity: 'warning', where: 'plugins[0].organizations.claim' },
  ],
  [
    'organizations by a claim that an account keeps as of the first sign-in',
    {
      ...withOrganizations({ claim: 'groups' }, { accounts: {}, providers: [statingGroups('acme')] }),
      administration: true,
      mail: { url: 'smtps://mail.example.com', from: 'id@example.com' },
    },
    { id: 'organization-claim-of-providers', severity: 'warning', where: 'plugins[0].organizations.claim' },
  ],
  [
    'a client of a tenant that handles passwords',
    withTenants({
      list: [
        { name: 'acme' },
        { name: 'beta', clients: [client, { ...client, clientId: 'app', grantTypes: ['password'] }] },
      ],
    }),
    {
      id: 'password-grant',
      severity: 'warning',
      where: 'tenants.list[1].clients[1].grantTypes[0]',
      reason: 'app of https://id.example.com/t/beta handles the passwords of users itself',
    },
  ],
  [
    'a client of a tenant without a grant type',
    withTenantClient({ grantTypes: [] }),
    {
      id: 'client-cannot-succeed',
      where: ofTenant,
      reason: 'app of https://id.example.com/t/acme has no grant type, so it cannot get a token; add one to grantTypes',
    },
  ],
  [
    'a client of a tenant with a short secret',
    withTenantClient({ secrets: [hashed('demo-secret')] }),
    { id: 'secret-weak', severity: 'error', where: `${ofTenant}.secrets[0]` },
  ],
  [
    'clients of the server and of a tenant with one secret',
    withTenantClient({ secrets: client.secrets }),
    {
      id: 'secret-shared',
      where: `${ofTenant}.secrets[0]`,
      reason: 'app of https://id.example.com/t/acme and web have the same secret, so each can impersonate the other',
    },
  ],
  [
    'a client of a tenant with an expired secret only',
    withTenantClient({ secrets: [{ ...hashed(strong('app')), expiresAt: '2020-01-01T00:00:00Z' }] }),
    { id: 'secret-none-live', severity: 'error', where: `${ofTenant}.secrets` },
  ],
  [
    'a client of a tenant that requires a second factor with the password grant',
    withTenantClient(
      { grantTypes: ['password'], requireSecondFactor: true },
      { plugins: [{ name: 'sign-in', secondFactors: { encryptionSecrets: [strong('factors')] }, account: {} }] },
    ),
    { id: 'factor-not-askable', where: `${ofTenant}.grantTypes` },
  ],
  [
    'a client of a tenant whose certificate is not seen',
    withTenantClient({ tlsClientCertificateBoundAccessTokens: true }, { plugins: [{ name: 'mtls' }] }),
    { id: 'certificate-source-missing', where: `${ofTenant}.tlsClientCertificateBoundAccessTokens` },
  ],
  [
    'a client of a tenant with useless refresh tokens',
    withTenantClient({ ...codeClient, scopes: ['api1', 'offline_access'] }),
    {
      id: 'client-cannot-succeed',
      where: `${ofTenant}.scopes`,
      reason:
        'At https://id.example.com/t/acme: app has the scope offline_access but not the grant type refresh_token, so it gets no refresh tokens',
    },
  ],
  [
    'a client of a tenant with a redirect URI without TLS',
    withTenantClient({ ...codeClient, redirectUris: ['http://app.example.com/cb'] }),
    { id: 'redirect-without-tls', severity: 'error', where: `${ofTenant}.redirectUris[0]` },
  ],
  [
    'a client of a tenant with a scope that the tenant has not',
    withTenantClient({ scopes: ['api2'] }),
    { id: 'tenant-unusable', severity: 'error', where: 'tenants.list[0]' },
  ],
  [
    'a client of a tenant with an unknown member',
    withTenants({ list: [{ name: 'acme', clients: [{ ...client, redirectUrl: 'x' }] }] }),
    { id: 'tenant-unusable', severity: 'error', where: 'tenants.list[0]' },
  ],
  [
    'an issuer below the prefix of the tenants',
    withTenants({ prefix: '/t' }, { issuer: 'https://id.example.com/t/main' }),
    { id: 'tenant-over-server', severity: 'error', where: 'tenants.prefix' },
  ],
]
