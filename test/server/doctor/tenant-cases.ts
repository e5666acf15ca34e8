import { client, type FindingCase, healthy } from './configurations.ts'

const { keys: _, ...withoutFile } = healthy
const withTenants = (tenants: object, more: object = {}) => ({ ...withoutFile, ...more, tenants })
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
