import { keySettingsOf } from '../configuration/keys.ts'
import type { Check } from './facts.ts'
import { finding } from './finding.ts'

/** Checks whether discovery lists RS256, as OpenID Connect requires, if clients use OpenID Connect. */
export const checkOpenId: Check = ({ configuration, clients, hasExternalClients, signingAlgorithms }) => {
  const hasOpenIdClient = clients.some(
    ({ enabled, scopes, grantTypes }) =>
      enabled && scopes.includes('openid') && grantTypes.includes('authorization_code'),
  )
  // External clients are assumed to sign users in if there is a login page.
  const usesOpenId = hasOpenIdClient || (hasExternalClients && configuration.authorizationEndpoint !== undefined)
  if (!usesOpenId || signingAlgorithms.includes('RS256')) return []
  const settings = keySettingsOf(configuration.keys)
  const isStored = !Array.isArray(configuration.keys) && settings.jwks === undefined
  const where = isStored ? 'keys.algorithms' : settings.jwks === undefined ? 'keys' : 'keys.jwks'
  return [
    finding(
      'openid-algorithm-missing',
      where,
      `Identity tokens can only be signed with ${signingAlgorithms.join(', ')}, but OpenID Connect requires RS256, and some clients accept nothing else`,
    ),
  ]
}
