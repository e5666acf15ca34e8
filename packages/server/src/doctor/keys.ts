import { keySettingsOf, usualRotation } from '../configuration/keys.ts'
import type { Check } from './facts.ts'
import { type Finding, finding } from './finding.ts'

const day = 86_400
/** Seconds after which a key file is told to be old. */
const oldAge = 365 * day

/** Whoever has the storage tries what people type, and what stands in guides; of 32 random hex digits eight and more differ. */
const isTyped = (secret: string): boolean =>
  new Set(secret).size < 8 || /secret|password|change|example|grantry/iu.test(secret)

/** Whether keys outlive a restart, and are replaced in time. */
export const checkKeys: Check = ({ configuration, keys, keyFileChangedAt, clients, warnings, now }) => {
  // Whoever gives the keys themselves looks after them.
  if (Array.isArray(configuration.keys)) return []
  const { jwks, encryptionSecret, rotateAfter = usualRotation } = keySettingsOf(configuration.keys)
  const daysSince = (time: number): number => Math.floor((now - time) / day)
  if (jwks !== undefined) {
    if (keyFileChangedAt === undefined || now - keyFileChangedAt <= oldAge) return []
    return [finding('key-old', 'keys.jwks', `The key file was changed ${daysSince(keyFileChangedAt)} days ago`)]
  }
  if (configuration.storage.driver === 'memory') {
    return [
      finding(
        'keys-not-kept',
        'storage.driver',
        'The keys are in memory too: after a restart no JWT of before is valid, and a second process refuses those of the first',
      ),
    ]
  }
  const findings: Finding[] = []
  if (encryptionSecret === undefined) {
    findings.push(
      finding(
        'keys-unencrypted',
        'keys.encryptionSecret',
        'The signing keys lie in the store as they are: who reads it can sign',
      ),
    )
  }
  if (encryptionSecret !== undefined && isTyped(encryptionSecret)) {
    findings.push(
      finding(
        'secret-weak',
        'keys.encryptionSecret',
        'The secret that seals the signing keys was typed or copied, not generated',
      ),
    )
  }
  for (const { reason, message } of warnings) {
    if (reason === 'refused_key_stored') findings.push(finding('key-refused-in-store', 'keys.refused', message))
  }
  for (const key of keys ?? []) {
    const since = key.activatedAt ?? key.createdAt
    // A rotation waits for a request: a quiet server is late.
    if (key.state !== 'current' || now - since <= rotateAfter * 1.1 + day) continue
    findings.push(finding('key-old', 'keys', `The key ${key.kid} has signed for ${daysSince(since)} days`))
  }
  const longest = Math.max(0, ...clients.map(({ accessTokenLifetime }) => accessTokenLifetime))
  if (rotateAfter < 2 * longest) {
    findings.push(
      finding(
        'key-overlap-short',
        'keys.rotateAfter',
        `Keys are replaced every ${rotateAfter} s, and access tokens live up to ${longest} s: several old keys have to be published at once`,
      ),
    )
  }
  return findings
}
