// The tables of options and members in guides that are not written by `scripts/written-tables.ts`, each with its
// declarations.

/** A declaration of a source: its source, and the name of an interface or constant. */
type Declaration = string

export interface OptionTable {
  /** The guide, with the heading above the table. */
  readonly at: `${string}#${string}`
  readonly of: readonly Declaration[]
  /** Members of members, by what is before their names, such as `issuers[].`. */
  readonly nested?: Readonly<Record<string, readonly Declaration[]>>
  /** Names that are in no such declaration. */
  readonly also?: readonly string[]
}

const bridge = 'packages/adapters/src/http-bridge'
const drivers = 'packages/storage-drivers/src'
const guard = 'packages/resource-server/src'
const server = 'packages/server/src/configuration'

export const optionTables: readonly OptionTable[] = [
  { at: 'account#In a server', of: ['plugins/account/account.ts#accountSchema'] },
  {
    at: 'account#In a program',
    of: ['plugins/account/account.ts#optionsSchema', 'plugins/account/account.ts#accountSchema'],
  },
  { at: 'admin-api#Administrate over HTTP', of: ['packages/administration/src/api/admin.ts#adminSchema'] },
  {
    at: 'authorization-endpoint#Everything in your hands',
    of: ['plugins/authorization-endpoint/login-page.ts#optionsSchema'],
  },
  {
    at: 'client-assertion#Settings of the plugin',
    of: ['plugins/client-assertion/assertion-settings.ts#settingsSchema'],
  },
  { at: 'configuration#Server configuration', of: [`${server}/schema.ts#entries`] },
  { at: 'custom-driver#Test it', of: ['packages/testing/src/drivers/subject.ts#DriverSubject'] },
  {
    at: 'custom-endpoint#What the kit provides',
    of: ['packages/core/src/parts/endpoint.ts#EndpointKit', 'packages/core/src/parts/kit.ts#Revoking'],
  },
  {
    at: 'custom-grant#What the kit provides',
    of: ['packages/core/src/parts/grant-kit.ts#GrantKit', 'packages/core/src/parts/kit.ts#Kit'],
  },
  { at: 'device-authorization#The page', of: ['plugins/device-authorization/device-page-options.ts#devicePageSchema'] },
  {
    at: 'embedding#Limits and error callbacks of a server',
    of: [
      `${bridge}/serve.ts#NodeServeOptions`,
      `${bridge}/bridge-options.ts#ServeOptions`,
      `${bridge}/bridge-options.ts#BridgeOptions`,
      `${bridge}/concurrency-limit.ts#ConcurrencyOptions`,
      `${bridge}/callbacks.ts#CallbackOptions`,
    ],
  },
  { at: 'next-sign-in#Options', of: ['packages/next/src/client/client-options.ts#SignInClientOptions'] },
  {
    at: 'jwt-bearer#JWT bearer',
    of: ['plugins/jwt-bearer/jwt-bearer.ts#settingsSchema'],
    nested: { 'issuers[].': ['plugins/shared/trusted-issuers.ts#issuerEntries'] },
  },
  {
    at: 'mcp-in-a-company#The identity provider',
    of: ['plugins/id-jag/id-jag-options.ts#issueSchema'],
    nested: { 'servers[].': ['plugins/id-jag/id-jag-options.ts#serverSchema'] },
  },
  {
    at: 'mcp-in-a-company#The authorization server',
    of: ['plugins/id-jag/id-jag-options.ts#acceptSchema'],
    nested: { 'issuers[].': ['plugins/id-jag/id-jag-options.ts#identityProviderSchema'] },
  },
  { at: 'mtls#Where the certificate comes from', of: [`${server}/client-certificate.ts#clientCertificateSchema`] },
  { at: 'postgresql#PostgreSQL', of: [`${drivers}/postgresql/postgresql-options.ts#PostgresqlDriverOptions`] },
  {
    at: 'redis#Redis',
    of: [`${drivers}/redis/redis-options.ts#CommonRedisOptions`],
    also: ['url', 'cluster', 'sentinels', 'name', 'client', 'connection'],
  },
  {
    at: 'registration#Clients that register themselves',
    of: ['plugins/registration/registration-options.ts#registrationSchema'],
  },
  {
    at: 'resource-server#Options',
    of: [
      `${guard}/resource-server-options.ts#ResourceServerSettings`,
      `${guard}/resource-server-options.ts#ProtectedResourceOptions`,
      `${guard}/context.ts#CommonOptions`,
      `${guard}/validate-token.ts#Formats`,
    ],
  },
  { at: 'resource-server#JWTs', of: [`${guard}/jwt.ts#JwtOptions`] },
  { at: 'resource-server#Reference tokens', of: [`${guard}/introspection.ts#IntrospectionOptions`] },
  { at: 'resource-server#Tokens that are bound to a key', of: [`${guard}/dpop/dpop.ts#DpopProofOptions`] },
  { at: 'resource-server#The metadata document', of: [`${guard}/resource-metadata.ts#ResourceMetadataOptions`] },
  { at: 'self-service#With the server', of: [`${server}/sign-in/self-service.ts#selfServiceMemberSchema`] },
  { at: 'self-service#Mails', of: ['packages/mail/src/options.ts#entries'] },
  {
    at: 'sign-in#With the server',
    of: [`${server}/named/sign-in.ts#signInEntry`],
    nested: { 'sessions.': ['plugins/authorization-endpoint/session-records.ts#sessionsSchema'] },
  },
  {
    at: 'sign-in#In the library',
    of: ['plugins/sign-in-plugins/sign-in-plugins.ts#SignInPluginsOptions'],
    also: ['organizations', 'ways', 'features'],
  },
  { at: 'sign-in#Staying signed in', of: ['plugins/authorization-endpoint/session-records.ts#staySchema'] },
  { at: 'sign-in#The pages', of: ['packages/pages/src/pages-options.ts#pagesSchema'] },
  { at: 'sqlite#SQLite', of: [`${drivers}/sqlite/sqlite-options.ts#SqliteDriverOptions`] },
  { at: 'tenants#In the ready server', of: [`${server}/tenants-schema.ts#tenantsSchema`] },
  {
    at: 'tenants#In your own server',
    of: [
      'packages/core/src/tenants/create-tenants.ts#TenantsOptions',
      'packages/core/src/tenants/tenant.ts#TenantLimits',
      'packages/core/src/tenants/tenant.ts#TenantSource',
    ],
  },
  {
    at: 'tenants#One issuer for several organizations',
    of: [`${server}/sign-in/organizations.ts#organizationsMemberSchema`],
    nested: { 'list[].': [`${server}/sign-in/organizations.ts#organization`] },
  },
  { at: 'token-binding#Write it', of: ['packages/core/src/parts/token-binding.ts#TokenBinding'] },
  {
    at: 'token-exchange#Token exchange',
    of: [
      'plugins/token-exchange/token-exchange.ts#settingsSchema',
      'plugins/shared/trusted-issuers.ts#trustedIssuersEntries',
    ],
  },
  {
    at: 'upstream#Options of a provider',
    of: ['plugins/upstream/upstream-options.ts#providerEntries', 'plugins/upstream/upstream-options.ts#libraryEntries'],
  },
  {
    at: 'users#A table',
    of: ['packages/users/src/sql/sql-options.ts#sqlEntries', `${server}/password-file.ts#passwordEntries`],
    also: ['ca'],
    nested: { 'columns.': ['packages/users/src/sql/sql-options.ts#columnsSchema'] },
  },
  {
    at: 'users#An LDAP directory',
    of: ['packages/users/src/ldap/ldap-options.ts#ldapEntries'],
    also: ['ca', 'attributes.sub', 'attributes.username', 'attributes.claims'],
  },
  {
    at: 'workload-identity#Settings of the plugin',
    of: ['plugins/workload-identity/workload-options.ts#workloadIdentitySchema'],
    nested: { 'issuers[].': ['plugins/workload-identity/workload-options.ts#issuerSchema'] },
  },
  { at: 'workload-identity#The rule of a client', of: ['plugins/workload-identity/platforms.ts#workloadRuleSchema'] },
]
