import type { RefusedSecrets } from '../directory/refused-secrets.ts'
import type { Secret } from '../directory/secret.ts'
import { hex, utf8 } from '../encoding.ts'
import { after } from '../promises.ts'
import type { Runtime } from '../runtime.ts'
import type { MaybePromise } from '../types.ts'

/** Compares in time that depends only on the lengths, so that it does not reveal where two secrets differ. */
export function constantTimeEqual(left: string, right: string): boolean {
  if (left.length !== right.length) return false
  let difference = 0
  for (let index = 0; index < left.length; index += 1) difference |= left.charCodeAt(index) ^ right.charCodeAt(index)
  return difference === 0
}

// Expired, so no presented secret matches, but comparing takes as long as with a live secret.
const decoys: readonly Secret[] = [
  { algorithm: 'sha256', hash: '0'.repeat(64), expiresAt: 0 },
  { algorithm: 'sha512', hash: '0'.repeat(128), expiresAt: 0 },
]

const nothing = new Uint8Array()

/** Whether any live secret of the owner matches. `secrets` is `undefined` for an unknown owner. */
export type SecretCheck = (presented: string, secrets: readonly Secret[] | undefined) => MaybePromise<boolean>

/**
 * Creates the check of secrets. Each check hashes the presented secret once with every algorithm in use, regardless of
 * the owner and of the number of its secrets. Its timing therefore does not reveal which owners exist or how a secret
 * is stored.
 *
 * @param known the secrets of all owners that are known at startup. Algorithms of other owners are added when they are
 * first checked; without any known algorithm, SHA-512 is used.
 * @see wire contract, section 2; docs/decisions/0031-equal-work-for-every-credential.md
 */
export function createSecretCheck(known: readonly (readonly Secret[])[], runtime: Runtime): SecretCheck {
  const used = new Set(known.flat().map(({ algorithm }) => algorithm))
  return (presented, secrets = []) => {
    for (const { algorithm } of secrets) used.add(algorithm)
    const sha256 = used.has('sha256') ? runtime.sha256Hex(presented) : ''
    const digesting = used.has('sha512') || used.size === 0 ? runtime.sha512(utf8(presented)) : nothing
    return after(digesting, (digest) => {
      const digests = { sha256, sha512: hex(digest) }
      const now = runtime.now()
      let matched = false
      for (const { algorithm, hash, expiresAt } of secrets.length === 0 ? decoys : secrets) {
        const equal = constantTimeEqual(digests[algorithm], hash)
        if (equal && (expiresAt === undefined || now < expiresAt)) matched = true
      }
      return matched
    })
  }
}

/** Whether a presented secret was compromised, however its owner has stored it. Without such secrets, it hashes nothing. */
export type RefusalCheck = (presented: string) => MaybePromise<boolean>

export function createRefusalCheck(refused: RefusedSecrets, runtime: Runtime): RefusalCheck {
  return (presented) =>
    (refused.uses('sha256') && refused.has({ algorithm: 'sha256', hash: runtime.sha256Hex(presented) })) ||
    (refused.uses('sha512') &&
      after(runtime.sha512(utf8(presented)), (digest) => refused.has({ algorithm: 'sha512', hash: hex(digest) })))
}
