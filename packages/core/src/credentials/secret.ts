import type { Secret } from '../directory/secret.ts'
import { hex, utf8 } from '../encoding.ts'
import type { Runtime } from '../runtime.ts'

/** Compares in time that depends on the lengths only: where two secrets first differ must not show. */
export function constantTimeEqual(one: string, other: string): boolean {
  if (one.length !== other.length) return false
  let difference = 0
  for (let index = 0; index < one.length; index += 1) difference |= one.charCodeAt(index) ^ other.charCodeAt(index)
  return difference === 0
}

// They have expired, so no presented secret matches them. To compare with one costs what to compare with a live one costs.
const decoys: readonly Secret[] = [
  { algorithm: 'sha256', hash: '0'.repeat(64), expiresAt: 0 },
  { algorithm: 'sha512', hash: '0'.repeat(128), expiresAt: 0 },
]

/** Whether any live secret of the owner matches. `undefined` stands for an unknown owner. */
export type SecretCheck = (presented: string, secrets: readonly Secret[] | undefined) => boolean

/**
 * Every check hashes what was presented once with each algorithm that any owner uses, whoever the owner is and however many secrets it has. The work
 * therefore shows neither who exists nor how a secret is stored.
 *
 * @param known the secrets of all owners that are known at start. Those of others count from when they are first checked; until then it is SHA-512
 * @see wire contract, section 2; docs/decisions/0031-equal-work-for-every-credential.md
 */
export function createSecretCheck(known: readonly (readonly Secret[])[], runtime: Runtime): SecretCheck {
  const used = new Set(known.flat().map(({ algorithm }) => algorithm))
  return (presented, secrets = []) => {
    for (const { algorithm } of secrets) used.add(algorithm)
    const digests = {
      sha256: used.has('sha256') ? runtime.sha256Hex(presented) : '',
      sha512: used.has('sha512') || used.size === 0 ? hex(runtime.sha512(utf8(presented))) : '',
    }
    const now = runtime.now()
    let matched = false
    for (const { algorithm, hash, expiresAt } of secrets.length === 0 ? decoys : secrets) {
      const equal = constantTimeEqual(digests[algorithm], hash)
      if (equal && (expiresAt === undefined || now < expiresAt)) matched = true
    }
    return matched
  }
}
