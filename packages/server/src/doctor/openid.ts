import { keySettingsOf } from '../configuration/keys.ts'
import type { Check } from './facts.ts'
import { finding } from './finding.ts'

/** Whether discovery offers what OpenID Connect requires, where clients use it. */
export const checkOpenId: Check = ({ configuration, clients, clientsElsewhere, signingAlgorithms }) => {
  const signsIn = clients.some(
    ({ enabled, scopes, grantTypes }) =>
      enabled && scopes.includes('openid') && grantTypes.includes('authorization_code'),
  )
  // Clients that are kept elsewhere sign users in where there is a login page.
  const usesOpenId = signsIn || (clientsElsewhere && configuration.authorizationEndpoint !== undefined)
  if (!usesOpenId || signingAlgorithms.includes('RS256')) return []
  const settings = keySettingsOf(configuration.keys)
  const isStored = !Array.isArray(configuration.keys) && settings.jwks === undefined
  const where = isStored ? 'keys.algorithms' : settings.jwks === undefined ? 'keys' : 'keys.jwks'
  return [
    finding(
      'openid-algorithm-missing',
      where,
      `Discovery offers identity tokens signed by ${signingAlgorithms.join(', ')} only, and must offer RS256: some clients accept nothing else`,
    ),
  ]
}
