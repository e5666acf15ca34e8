import { closestName, foldedDomain } from '@grantry/core'
import { each, type RulePart } from '../check-rules/rule.ts'
import type { Facts } from './facts.ts'
import type { Named } from './named.ts'

type SignIn = Named<'sign-in'>
type Configured = NonNullable<SignIn['plugin']['providers']>[number]

/** Mail services at which anyone gets an address. */
const publicMail: readonly string[] = [
  'gmail.com',
  'googlemail.com',
  'outlook.com',
  'hotmail.com',
  'live.com',
  'yahoo.com',
  'icloud.com',
  'me.com',
  'proton.me',
  'gmx.de',
  'gmx.net',
  'web.de',
  'aol.com',
  'mail.ru',
  'qq.com',
  '163.com',
]

const nameOf = (provider: Configured): string => provider.name ?? ('preset' in provider ? provider.preset : '')

/** Whether the provider never states `auth_time`. */
const isSilent = (provider: Configured): boolean =>
  'preset' in provider && (provider.preset === 'github' || provider.preset === 'google')

const hasSecret = (provider: Configured): boolean =>
  provider.privateKey !== undefined || ('clientSecret' in provider && provider.clientSecret !== undefined)

/** Whether any tenant of Microsoft Entra can be the provider. */
const hasAllTenants = (provider: Configured): boolean =>
  'preset' in provider && provider.preset === 'microsoft' && provider.tenants.includes('*')

const providersOf = ({ plugin: { providers = [] }, path, facts }: SignIn) =>
  providers.map((provider, index) => ({
    provider,
    name: nameOf(provider),
    linkBy: provider.linkBy ?? [],
    path: `${path}.providers[${index}]`,
    facts,
  }))

/** Whether a client may send its users to a provider. Clients of an external store are unknown. */
const isUsable = (name: string, { clients, storedClients, hasExternalClients }: Facts): boolean =>
  hasExternalClients ||
  [...clients, ...storedClients].some(
    ({ enabled, grantTypes, identityProviders }) =>
      enabled &&
      grantTypes.includes('authorization_code') &&
      (identityProviders.length === 0 || identityProviders.includes(name)),
  )

/** The rules for the providers at which users sign in. */
export const upstreamRules: readonly RulePart<SignIn>[] = [
  {
    id: 'upstream-freshness',
    severity: 'warning',
    remedy: 'allow passwords, add secondFactors, or set freshness of the provider to "assumed"',
    source: 'docs/guides/upstream.md',
    check({ plugin: { providers = [], passwords, account, secondFactors }, path }) {
      if (passwords !== false || account === undefined || secondFactors !== undefined) return []
      return providers.flatMap((provider, index) => {
        if (!isSilent(provider) || provider.freshness === 'assumed') return []
        const reason = `Users of ${nameOf(provider)} cannot change their accounts: the provider never states when a user has authenticated`
        return [{ where: `${path}.providers[${index}].freshness`, reason }]
      })
    },
  },
  // The users of the client see a page without the provider.
  {
    id: 'identity-provider-unknown',
    severity: 'warning',
    remedy:
      'correct the name, add the provider, or remove the name; if your user service knows it, accept it in check.accept',
    source: 'docs/guides/upstream.md',
    check({ plugin: { providers = [] }, facts: { clients } }) {
      const names = providers.map(nameOf)
      if (names.length === 0) return []
      return clients.flatMap(({ identityProviders }, index) =>
        identityProviders
          .filter((name) => !names.includes(name))
          .map((name) => {
            const closest = closestName(name, names)
            const reason = `No provider has the name ${name}${closest === undefined ? '' : `; did you mean ${closest}?`}`
            return { where: `clients[${index}].identityProviders`, reason }
          }),
      )
    },
  },
  each(providersOf, [
    {
      id: 'upstream-without-tls',
      severity: 'warning',
      remedy: 'use an https issuer',
      source: 'OpenID Connect Core section 3.1.2.1; docs/guides/upstream.md',
      reason: 'The connection to the provider is not encrypted: an attacker on the network can sign in as any user',
      check: ({ provider, path }) => 'issuer' in provider && provider.issuer.startsWith('http:') && `${path}.issuer`,
    },
    {
      id: 'upstream-secret-missing',
      severity: 'warning',
      remedy: 'set clientSecret, or privateKey',
      source: 'RFC 9700 section 2.5; docs/guides/upstream.md',
      reason:
        'The server is a public client of the provider, so the provider cannot know that this server redeems the code',
      check: ({ provider, path: where }) => !hasSecret(provider) && where,
    },
    {
      id: 'upstream-private',
      severity: 'warning',
      remedy:
        'remove allowPrivateAddresses, unless the provider is in your own network; then accept it in check.accept',
      source: 'RFC 9700 section 4.11; docs/guides/upstream.md',
      reason: 'The metadata of the provider makes this server send requests to addresses of its own network',
      check: ({ provider, path }) => provider.allowPrivateAddresses === true && `${path}.allowPrivateAddresses`,
    },
    {
      id: 'upstream-any-tenant',
      severity: 'warning',
      remedy: 'name the tenants by their ids',
      source: 'docs/guides/upstream.md',
      reason: 'Every tenant of Microsoft Entra can create users who sign in here',
      check: ({ provider, path }) => hasAllTenants(provider) && `${path}.tenants`,
    },
    {
      id: 'upstream-unused',
      severity: 'warning',
      remedy: 'add the name to identityProviders of a client, or remove the provider',
      source: 'docs/guides/upstream.md',
      check: ({ name, path: where, facts }) =>
        !isUsable(name, facts) && {
          where,
          reason: `No client may use ${name}: each names other providers in identityProviders, or has no sign-in`,
        },
    },
    {
      id: 'upstream-link-any-tenant',
      severity: 'error',
      remedy: 'remove linkBy, or name the tenants by their ids',
      source: 'docs/guides/upstream.md',
      reason: 'A tenant can give its users any mail address, so one of them could sign in as a user of yours',
      check: ({ provider, linkBy, path }) => linkBy.length > 0 && hasAllTenants(provider) && `${path}.linkBy`,
    },
    {
      id: 'upstream-link-public-mail',
      severity: 'error',
      remedy: 'remove the domain: users link such accounts themselves',
      source: 'docs/guides/upstream.md',
      check({ linkBy, path }) {
        const foreign = linkBy.find((domain) => publicMail.includes(foldedDomain(domain)))
        const reason = `Addresses in ${foreign} can get new owners, who could then sign in as users of yours`
        return foreign !== undefined && { where: `${path}.linkBy`, reason }
      },
    },
  ]),
]
