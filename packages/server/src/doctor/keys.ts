import { keySettingsOf } from '../configuration/keys.ts'
import type { Check } from './facts.ts'
import { type Finding, finding } from './finding.ts'

const day = 86_400
/** Seconds after which a key is told to be old where nothing rotates it. */
const oldAge = 365 * day

/** Whether keys outlive a restart, and are replaced in time. */
export const checkKeys: Check = ({ configuration, keys, keyFileChangedAt, clients, now }) => {
  const settings = keySettingsOf(configuration.keys)
  const findings: Finding[] = []
  if (settings.jwks !== undefined) {
    if (keyFileChangedAt !== undefined && now - keyFileChangedAt > oldAge) {
      findings.push(
        finding(
          'key-old',
          'keys.jwks',
          `The key file was changed ${Math.floor((now - keyFileChangedAt) / day)} days ago`,
        ),
      )
    }
    return findings
  }
  if (keys === undefined) {
    return [
      finding(
        'keys-not-kept',
        'keys',
        'A key is made at every start: after a restart no JWT of before is valid, and a second process refuses those of the first',
      ),
    ]
  }
  if (settings.encryptionSecret === undefined && configuration.storage.driver !== 'memory') {
    findings.push(
      finding(
        'keys-unencrypted',
        'keys.encryptionSecret',
        'The signing keys lie in the store as they are: who reads it can sign',
      ),
    )
  }
  const { rotateAfter } = settings
  const limit = typeof rotateAfter === 'number' ? rotateAfter * 1.1 + day : oldAge
  const current = keys.find(({ state }) => state === 'current')
  const age = current === undefined ? 0 : now - (current.activatedAt ?? current.createdAt)
  if (current !== undefined && age > limit) {
    findings.push(finding('key-old', 'keys', `The key ${current.kid} has signed for ${Math.floor(age / day)} days`))
  }
  const longest = Math.max(0, ...clients.map(({ accessTokenLifetime }) => accessTokenLifetime))
  if (typeof rotateAfter === 'number' && rotateAfter < 2 * longest) {
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
