import { closestName, foldedDomain } from '@grantry/core'
import type { NamedPlugin } from '../configuration/named-plugins.ts'
import type { Facts } from './facts.ts'
import { type Finding, finding } from './finding.ts'

type SignInPlugin = Extract<NamedPlugin, { readonly name: 'sign-in' }>
type Configured = NonNullable<SignInPlugin['providers']>[number]

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

/** Whether it never states `auth_time`. */
const isSilent = (provider: Configured): boolean =>
  'preset' in provider && (provider.preset === 'github' || provider.preset === 'google')

const hasSecret = (provider: Configured): boolean =>
  provider.privateKey !== undefined || ('clientSecret' in provider && provider.clientSecret !== undefined)

function checkProvider(
  provider: Configured,
  path: string,
  { clients, storedClients, hasExternalClients }: Facts,
): readonly Finding[] {
  const found: Finding[] = []
  const { linkBy = [], allowPrivateAddresses } = provider
  const name = nameOf(provider)
  const isMicrosoft = 'preset' in provider && provider.preset === 'microsoft'
  const hasAllTenants = isMicrosoft && provider.tenants.includes('*')
  if ('issuer' in provider && provider.issuer.startsWith('http:')) {
    const reason = 'The connection to the provider is not encrypted: an attacker on the network can sign in as any user'
    found.push(finding('upstream-without-tls', `${path}.issuer`, reason))
  }
  if (!hasSecret(provider)) {
    const reason = 'The server is a public client of the provider, which then cannot know that it redeems the code'
    found.push(finding('upstream-secret-missing', path, reason))
  }
  if (allowPrivateAddresses === true) {
    const reason = 'The metadata of the provider makes this server send requests to addresses of its own network'
    found.push(finding('upstream-private', `${path}.allowPrivateAddresses`, reason))
  }
  if (hasAllTenants) {
    const reason = 'Every tenant of Microsoft Entra can create users who sign in here'
    found.push(finding('upstream-any-tenant', `${path}.tenants`, reason))
  }
  const isUsable = ({ enabled, grantTypes, identityProviders }: Facts['clients'][number]): boolean =>
    enabled &&
    grantTypes.includes('authorization_code') &&
    (identityProviders.length === 0 || identityProviders.includes(name))
  if (!hasExternalClients && ![...clients, ...storedClients].some(isUsable)) {
    const reason = `No client may use ${name}: identityProviders of each names other providers, or none has a sign-in`
    found.push(finding('upstream-unused', path, reason))
  }
  if (linkBy.length > 0 && hasAllTenants) {
    const reason = 'A tenant enters any mail address for its users: one of them could become a user of yours'
    found.push(finding('upstream-link-any-tenant', `${path}.linkBy`, reason))
  }
  const foreign = linkBy.find((domain) => publicMail.includes(foldedDomain(domain)))
  if (foreign !== undefined) {
    const reason = `Addresses in ${foreign} get new owners, who would become users of yours`
    found.push(finding('upstream-link-public-mail', `${path}.linkBy`, reason))
  }
  return found
}

/** Providers whose users cannot change their accounts, because they prove a recent sign-in in no way. */
const unprovable = (providers: readonly Configured[], path: string): readonly Finding[] =>
  providers.flatMap((provider, index) => {
    if (!isSilent(provider) || provider.freshness === 'assumed') return []
    const reason = `Users of ${nameOf(provider)} cannot change their accounts: it never states when a user has authenticated`
    return [finding('upstream-freshness', `${path}.providers[${index}].freshness`, reason)]
  })

/** Clients that name a provider which does not exist: their users see a page without it. */
function unknownNames(providers: readonly Configured[], { clients }: Facts): readonly Finding[] {
  const names = providers.map(nameOf)
  return clients.flatMap(({ identityProviders }, index) =>
    identityProviders
      .filter((name) => !names.includes(name))
      .map((name) => {
        const closest = closestName(name, names)
        const reason = `No provider has the name ${name}${closest === undefined ? '' : `; did you mean ${closest}?`}`
        return finding('identity-provider-unknown', `clients[${index}].identityProviders`, reason)
      }),
  )
}

/** Checks the providers at which users sign in. */
export function checkUpstreams(
  { providers = [], passwords, account, secondFactors }: SignInPlugin,
  path: string,
  facts: Facts,
): readonly Finding[] {
  return [
    ...(passwords === false && account !== undefined && secondFactors === undefined ? unprovable(providers, path) : []),
    ...(providers.length === 0 ? [] : unknownNames(providers, facts)),
    ...providers.flatMap((provider, index) => checkProvider(provider, `${path}.providers[${index}]`, facts)),
  ]
}
