import type { GrantRecord } from '../records/schemas.ts'
import type { CredentialDetails } from './redemption.ts'

/** The family of a presented token, and when its tokens end. */
export interface Lineage {
  /** `undefined` if the token has no family. */
  readonly family: string | undefined
  /** Epoch seconds. What continues the family expires no later. */
  readonly expiresAt: number
  /** Set for a stored refresh token. */
  readonly stored?: CredentialDetails & { readonly record: GrantRecord }
}

// Kept in a WeakMap, not on the object, so that a plugin cannot make or change one.
const known = new WeakMap<object, Lineage>()

/** Remembers the family of what the kit returns to a grant. */
export function withLineage<T extends object>(presented: T, lineage: Lineage): T {
  const frozen = Object.freeze(presented)
  known.set(frozen, lineage)
  return frozen
}

/** @throws TypeError when the grant kit did not return it, or it is a code: that must be redeemed. */
export function lineageOf(presented: object): Lineage {
  const lineage = known.get(presented)
  if (lineage === undefined) {
    throw new TypeError('continuesFamilyOf must be a token or a stored refresh token from the grant kit')
  }
  return lineage
}
