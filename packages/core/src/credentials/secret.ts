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

// Nobody's secret. Comparing with it costs what comparing with a real one costs.
const decoy: readonly Secret[] = [{ algorithm: 'sha256', hash: '0'.repeat(64), expiresAt: undefined }]

/**
 * Whether any live secret of the owner matches. An unknown owner (`undefined`) takes the same work as a wrong secret.
 *
 * @see wire contract, section 2
 */
export function matchesSecret(presented: string, secrets: readonly Secret[] | undefined, runtime: Runtime): boolean {
  const hashes = {
    sha256: () => runtime.sha256Hex(presented),
    sha512: () => hex(runtime.sha512(utf8(presented))),
  }
  const now = runtime.now()
  let matched = false
  for (const secret of secrets === undefined || secrets.length === 0 ? decoy : secrets) {
    const equal = constantTimeEqual(hashes[secret.algorithm](), secret.hash)
    const live = secret.expiresAt === undefined || now < secret.expiresAt
    if (equal && live && secrets !== undefined) matched = true
  }
  return matched
}
