import type { Secret } from '../directory/secret.ts'
import { hex, utf8 } from '../encoding.ts'
import type { MaybePromise } from '../json.ts'
import { after, allOf } from '../promises.ts'
import type { Runtime } from '../runtime.ts'

/** Compares in time that depends on the lengths only: where two secrets first differ must not show. */
export function constantTimeEqual(one: string, other: string): boolean {
  if (one.length !== other.length) return false
  let difference = 0
  for (let index = 0; index < one.length; index += 1) difference |= one.charCodeAt(index) ^ other.charCodeAt(index)
  return difference === 0
}

// Nobody's secret. Comparing with it costs what comparing with a real one costs.
const decoy: readonly Secret[] = [{ algorithm: 'sha256', hash: '0'.repeat(64), expiresAt: undefined }]

/**
 * Whether any live secret of the owner matches. An unknown owner (`undefined`) takes the same work as a wrong secret.
 *
 * @see wire contract, section 2
 */
export function matchesSecret(
  presented: string,
  secrets: readonly Secret[] | undefined,
  runtime: Runtime,
): MaybePromise<boolean> {
  const hashOf = {
    sha256: () => runtime.sha256Hex(presented),
    sha512: () => after(runtime.sha512(utf8(presented)), hex),
  }
  const compared = secrets === undefined || secrets.length === 0 ? decoy : secrets
  return after(allOf(compared.map(({ algorithm }) => hashOf[algorithm]())), (hashes) => {
    const now = runtime.now()
    let matched = false
    for (const [index, { hash, expiresAt }] of compared.entries()) {
      const equal = constantTimeEqual(hashes[index] ?? '', hash)
      const live = expiresAt === undefined || now < expiresAt
      if (equal && live && secrets !== undefined) matched = true
    }
    return matched
  })
}
