import { defaultRotateAfter, keySettingsOf } from '../configuration/keys.ts'
import { isNamedPlugin } from '../configuration/named-plugins.ts'
import type { Check } from './facts.ts'
import { type Finding, finding } from './finding.ts'

const day = 86_400
/** Seconds after which a key file is reported as old. */
const oldAge = 365 * day

/**
 * Whether a secret looks typed, or copied from a guide: an attacker with a copy of the storage tries those first. At
 * least 8 of 32 random hex digits differ.
 */
const isTyped = (secret: string): boolean =>
  new Set(secret).size < 8 || /secret|password|change|example|grantry/iu.test(secret)

/** Checks whether keys survive a restart, are encrypted and are rotated in time. */
export const checkKeys: Check = ({ configuration, keys, keyFileChangedAt, clients, warnings, now }) => {
  // The module that provides the keys is responsible for them.
  if (Array.isArray(configuration.keys)) return []
  const { jwks, encryptionSecret, rotateAfter = defaultRotateAfter } = keySettingsOf(configuration.keys)
  const daysSince = (time: number): number => Math.floor((now - time) / day)
  if (jwks !== undefined) {
    if (keyFileChangedAt === undefined || now - keyFileChangedAt <= oldAge) return []
    return [finding('key-old', 'keys.jwks', `The key file was last changed ${daysSince(keyFileChangedAt)} days ago`)]
  }
  if (configuration.storage.driver === 'memory') {
    return [
      finding(
        'keys-not-kept',
        'storage.driver',
        'The keys are in memory: a restart invalidates all JWTs, and several processes do not accept the JWTs of each other',
      ),
    ]
  }
  const findings: Finding[] = []
  if (encryptionSecret === undefined) {
    findings.push(
      finding(
        'keys-unencrypted',
        'keys.encryptionSecret',
        'The signing keys are stored unencrypted: an attacker who reads the storage can sign tokens',
      ),
    )
  }
  if (encryptionSecret !== undefined && isTyped(encryptionSecret)) {
    findings.push(
      finding(
        'secret-weak',
        'keys.encryptionSecret',
        'The secret that encrypts the signing keys looks typed or copied, not generated',
      ),
    )
  }
  for (const { reason, message } of warnings) {
    if (reason === 'refused_key_stored') findings.push(finding('key-refused-in-store', 'keys.refused', message))
  }
  for (const key of keys ?? []) {
    const since = key.activatedAt ?? key.createdAt
    // The server rotates during requests, so an idle server is late.
    if (key.state !== 'current' || now - since <= rotateAfter * 1.1 + day) continue
    findings.push(finding('key-old', 'keys', `The key ${key.kid} has been signing for ${daysSince(since)} days`))
  }
  const longest = Math.max(0, ...clients.map(({ accessTokenLifetime }) => accessTokenLifetime))
  if (rotateAfter < 2 * longest) {
    findings.push(
      finding(
        'key-overlap-short',
        'keys.rotateAfter',
        `Keys are rotated every ${rotateAfter} s, but access tokens are valid for up to ${longest} s, so several old keys must stay published`,
      ),
    )
  }
  return findings
}

/**
 * Checks whether discovery lists RS256, as OpenID Connect requires, if clients use OpenID Connect. Clients that name no
 * algorithm expect RS256.
 */
export const checkOpenId: Check = ({ configuration, clients, hasExternalClients, signingAlgorithms }) => {
  const openIdClients = clients.filter(
    ({ enabled, scopes, grantTypes }) =>
      enabled && scopes.includes('openid') && grantTypes.some((name) => name !== 'client_credentials'),
  )
  const { authorizationEndpoint, plugins = [] } = configuration
  const signsIn =
    authorizationEndpoint !== undefined || plugins.some((plugin) => isNamedPlugin(plugin) && plugin.name === 'sign-in')
  // External clients are assumed to sign users in if there is a login page.
  const usesOpenId = openIdClients.length > 0 || (hasExternalClients && signsIn)
  if (!usesOpenId || signingAlgorithms.includes('RS256')) return []
  const settings = keySettingsOf(configuration.keys)
  const isStored = !Array.isArray(configuration.keys) && settings.jwks === undefined
  const where = isStored ? 'keys.algorithms' : settings.jwks === undefined ? 'keys' : 'keys.jwks'
  const areNamed =
    !hasExternalClients && openIdClients.every(({ identityTokenAlgorithm }) => identityTokenAlgorithm !== undefined)
  return [
    finding(
      'openid-algorithm-missing',
      where,
      `Identity tokens can only be signed with ${signingAlgorithms.join(', ')}, but OpenID Connect requires RS256, and many clients accept nothing else`,
      areNamed ? 'info' : 'warning',
    ),
  ]
}
