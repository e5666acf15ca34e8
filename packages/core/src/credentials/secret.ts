import type { Secret } from '../directory/secret.ts'
import { utf8 } from '../encoding.ts'
import type { Runtime } from '../runtime.ts'

/** Compares in time that depends on the lengths only: where two secrets first differ must not show. */
export function constantTimeEqual(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false
  let difference = 0
  for (let index = 0; index < one.length; index += 1) difference |= (one[index] ?? 0) ^ (other[index] ?? 0)
  return difference === 0
}

// Nobody's secret. Comparing with it costs what comparing with a real one costs.
const decoy: readonly Secret[] = [{ algorithm: 'sha256', hash: new Uint8Array(32), expiresAt: undefined }]

/**
 * Whether any live secret of the owner matches. An unknown owner (`undefined`) takes the same work as a wrong secret.
 *
 * @see wire contract, section 2
 */
export function matchesSecret(presented: string, secrets: readonly Secret[] | undefined, runtime: Runtime): boolean {
  const bytes = utf8(presented)
  const now = runtime.now()
  let matched = false
  for (const secret of secrets === undefined || secrets.length === 0 ? decoy : secrets) {
    const equal = constantTimeEqual(runtime[secret.algorithm](bytes), secret.hash)
    const live = secret.expiresAt === undefined || now < secret.expiresAt
    if (equal && live && secrets !== undefined) matched = true
  }
  return matched
}
