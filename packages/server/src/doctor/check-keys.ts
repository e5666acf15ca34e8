import { each, type RulePart } from '../check-rules/rule.ts'
import { defaultRotateAfter, keySettingsOf } from '../configuration/configured-keys.ts'
import { isNamedPlugin } from '../configuration/named-plugins.ts'
import { secretWeak } from './check-secrets.ts'
import type { Facts } from './facts.ts'

const day = 86_400
/** Seconds after which a key file is reported as old. */
const oldAge = 365 * day

/**
 * Whether a secret looks typed, or copied from a guide: an attacker with a copy of the storage tries those first. At
 * least 8 of 32 random hex digits differ.
 */
const isTyped = (secret: string | undefined): boolean =>
  secret !== undefined && (new Set(secret).size < 8 || /secret|password|change|example|grantry/iu.test(secret))

const settingsOf = ({ configuration: { keys } }: Facts) => {
  const { rotateAfter = defaultRotateAfter, ...settings } = keySettingsOf(keys)
  return { ...settings, rotateAfter }
}

/** Where the keys are. A module that provides them is responsible for them. */
function placeOf(facts: Facts): 'module' | 'file' | 'memory' | 'storage' {
  const { keys, storage } = facts.configuration
  if (Array.isArray(keys)) return 'module'
  if (settingsOf(facts).jwks !== undefined) return 'file'
  return storage.driver === 'memory' ? 'memory' : 'storage'
}

const onlyStored = (facts: Facts): readonly Facts[] => (placeOf(facts) === 'storage' ? [facts] : [])

/** Returns the keys that sign for too long, as findings name them, and since when. */
function oldKeys(facts: Facts): readonly { readonly where: string; readonly text: string; readonly since: number }[] {
  const { keyFileChangedAt: since, keys, now } = facts
  if (placeOf(facts) === 'file') {
    const isOld = since !== undefined && now - since > oldAge
    return isOld ? [{ where: 'keys.jwks', text: 'The key file was last changed % days ago', since }] : []
  }
  // The server rotates during requests, so an idle server is late.
  const latest = now - settingsOf(facts).rotateAfter * 1.1 - day
  return onlyStored(facts).flatMap(() =>
    (keys ?? []).flatMap(({ kid, state, createdAt, activatedAt = createdAt }) =>
      state === 'current' && activatedAt < latest
        ? [{ where: 'keys', text: `The key ${kid} has been signing for % days`, since: activatedAt }]
        : [],
    ),
  )
}

/**
 * Whether clients use OpenID Connect. External clients are assumed to sign users in if there is a login page.
 */
function openIdUse({ configuration, clients, hasExternalClients }: Facts) {
  const those = clients.filter(
    ({ enabled, scopes, grantTypes }) =>
      enabled && scopes.includes('openid') && grantTypes.some((name) => name !== 'client_credentials'),
  )
  const { authorizationEndpoint, plugins = [] } = configuration
  const signsIn =
    authorizationEndpoint !== undefined || plugins.some((plugin) => isNamedPlugin(plugin) && plugin.name === 'sign-in')
  return {
    isUsed: those.length > 0 || (hasExternalClients && signsIn),
    areNamed: !hasExternalClients && those.every(({ identityTokenAlgorithm }) => identityTokenAlgorithm !== undefined),
  }
}

/** The rules for keys: whether they survive a restart, are encrypted, rotated in time, and what clients expect. */
export const keyRules: readonly RulePart<Facts>[] = [
  {
    id: 'keys-not-kept',
    severity: 'warning',
    remedy: 'use sqlite, postgresql, filesystem or redis as the storage, or set keys.jwks to a key file',
    source: 'OpenID Connect Core section 10.1.1',
    reason:
      'The keys are in memory: a restart invalidates all JWTs, and several processes do not accept the JWTs of each other',
    check: (facts) => placeOf(facts) === 'memory' && 'storage.driver',
  },
  each(onlyStored, [
    {
      id: 'keys-unencrypted',
      severity: 'warning',
      remedy: `set keys.encryptionSecret to "$\{GRANTRY_KEY_SECRET}", and the variable to 32 random bytes`,
      source: 'docs/guides/keys.md',
      reason: 'The signing keys are stored unencrypted: an attacker who reads the storage can sign tokens',
      check: (facts) => settingsOf(facts).encryptionSecret === undefined && 'keys.encryptionSecret',
    },
    {
      ...secretWeak,
      reason: 'The secret that encrypts the signing keys looks typed or copied, not generated',
      check: (facts) => isTyped(settingsOf(facts).encryptionSecret) && 'keys.encryptionSecret',
    },
    {
      id: 'key-refused-in-store',
      severity: 'warning',
      remedy: 'find out what restored the old key ring, and keep the key in keys.refused',
      source: 'docs/guides/keys.md',
      check: ({ warnings }) =>
        warnings
          .filter(({ reason }) => reason === 'refused_key_stored')
          .map(({ message }) => ({ where: 'keys.refused', reason: message })),
    },
  ]),
  {
    id: 'key-old',
    severity: 'warning',
    remedy: 'run grantry keys rotate, or insert a new first key in the key file and keep the old one after it',
    source: 'OpenID Connect Core section 10.1.1',
    check: (facts) =>
      oldKeys(facts).map(({ where, text, since }) => ({
        where,
        reason: text.replace('%', String(Math.floor((facts.now - since) / day))),
      })),
  },
  each(onlyStored, [
    {
      id: 'key-overlap-short',
      severity: 'warning',
      remedy: 'set keys.rotateAfter well above the lifetime of access tokens',
      source: 'OpenID Connect Core section 10.1.1',
      check(facts) {
        const { rotateAfter } = settingsOf(facts)
        const longest = Math.max(0, ...facts.clients.map(({ accessTokenLifetime }) => accessTokenLifetime))
        const reason = `Keys are rotated every ${rotateAfter} s, but access tokens are valid for up to ${longest} s, so several old keys must stay published`
        return rotateAfter < 2 * longest && { where: 'keys.rotateAfter', reason }
      },
    },
  ]),
  // Clients that name no algorithm expect RS256.
  {
    id: 'openid-algorithm-missing',
    severity: 'warning',
    remedy:
      'remove keys.algorithm and keys.algorithms, or set the latter to ["ES256", "RS256"]; with a key file, add an RSA key after the first key; access tokens keep their algorithm',
    source: 'OpenID Connect Discovery 1.0 section 3',
    check(facts) {
      const { signingAlgorithms } = facts
      const { isUsed, areNamed } = openIdUse(facts)
      const place = placeOf(facts)
      const where = place === 'module' ? 'keys' : place === 'file' ? 'keys.jwks' : 'keys.algorithms'
      const reason = `Identity tokens can only be signed with ${signingAlgorithms.join(', ')}, but OpenID Connect requires RS256, and many clients accept nothing else`
      return (
        isUsed && !signingAlgorithms.includes('RS256') && { where, reason, severity: areNamed ? 'info' : 'warning' }
      )
    },
  },
]
