import { client, type FindingCase, type HealthyCase, healthy } from './configurations.ts'

const acme = {
  name: 'acme',
  issuer: 'https://login.acme.example.com',
  clientId: 'grantry',
  clientSecret: 'acme-secret',
}
const microsoft = { preset: 'microsoft', clientId: 'grantry', clientSecret: 'secret', tenants: ['*'] }
const web = { ...client, grantTypes: ['authorization_code'], redirectUris: ['https://web.example.com/callback'] }

const withProviders = (providers: readonly object[], more: object = {}, clients: readonly object[] = [web]) => ({
  ...healthy,
  clients,
  plugins: [{ name: 'sign-in', providers, passwords: false, ...more }],
})

/** Configurations with providers that are fine. */
export const healthyUpstreams: readonly HealthyCase[] = [
  ['a provider', withProviders([acme])],
  ['a provider that links by its own domain', withProviders([{ ...acme, linkBy: ['acme.example.com'] }])],
]

const path = 'plugins[0].providers[0]'

/** Ways to sign in other than passwords, and the expected finding. */
export const upstreamCases: readonly FindingCase[] = [
  [
    'passkeys at an IP address',
    { ...withProviders([acme], { passkeys: true }), issuer: 'http://127.0.0.1:8484' },
    { id: 'passkeys-at-address', severity: 'warning', where: 'plugins[0].passkeys' },
  ],
  [
    'a provider without TLS',
    withProviders([{ ...acme, issuer: 'http://127.0.0.1:8080', allowPrivateAddresses: true }]),
    { id: 'upstream-without-tls', severity: 'warning', where: `${path}.issuer` },
  ],
  [
    'a provider without a secret',
    withProviders([{ ...acme, clientSecret: undefined }]),
    { id: 'upstream-secret-missing', severity: 'warning', where: path },
  ],
  [
    'a provider in the own network',
    withProviders([{ ...acme, allowPrivateAddresses: true }]),
    { id: 'upstream-private', severity: 'warning', where: `${path}.allowPrivateAddresses` },
  ],
  [
    'all tenants of Microsoft Entra',
    withProviders([microsoft]),
    { id: 'upstream-any-tenant', severity: 'warning', where: `${path}.tenants` },
  ],
  [
    'links for users of all tenants',
    withProviders([{ ...microsoft, linkBy: ['acme.example.com'] }]),
    { id: 'upstream-link-any-tenant', severity: 'error', where: `${path}.linkBy` },
  ],
  [
    'links by addresses of a public mail service',
    withProviders([{ ...acme, linkBy: ['Gmail.com'] }]),
    { id: 'upstream-link-public-mail', severity: 'error', where: `${path}.linkBy` },
  ],
  [
    'a provider that no client may use',
    withProviders([acme], {}, [{ ...web, identityProviders: ['other'] }]),
    { id: 'upstream-unused', severity: 'warning', where: path },
  ],
  [
    'a client that names no provider',
    withProviders([acme], {}, [web, { ...web, clientId: 'other', identityProviders: ['acme', 'acne'] }]),
    { id: 'identity-provider-unknown', severity: 'warning', where: 'clients[1].identityProviders' },
  ],
  [
    'an account page whose users cannot prove a recent sign-in',
    withProviders([{ preset: 'github', clientId: 'grantry', clientSecret: 'secret' }], { account: {} }),
    { id: 'upstream-freshness', severity: 'warning', where: `${path}.freshness` },
  ],
  [
    'a sign-in without any way',
    withProviders([]),
    {
      id: 'configuration-invalid',
      severity: 'error',
      reason: 'signIn(): with passwords: false, users need another way to sign in; add passkeys, or ways',
    },
  ],
]
