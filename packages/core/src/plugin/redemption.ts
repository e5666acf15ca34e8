import type { GrantRecord, SpentRecord } from '../records/records.ts'

declare const redemption: unique symbol

// Facts are kept in a WeakMap, not on the object, so that a plugin cannot read, copy or change them.
const known = new WeakMap<Redemption, RedemptionFacts>()

/** What the core knows about a credential that a grant redeems or continues. Hidden from plugins. */
export interface RedemptionFacts {
  readonly kind: 'code' | 'refresh' | 'plugin'
  /** Hex SHA-256 of the credential. */
  readonly hash: string
  /** Epoch seconds until which the credential, and therefore its spent marker, is valid. */
  readonly expiresAt: number
  /** The credential itself, from which the key of its replay record is derived. It is never stored or shown. */
  readonly credential?: string
  readonly record?: GrantRecord
  /** The spent marker, if it was found at lookup. Then nothing is minted for a replay. */
  readonly spent?: SpentRecord | undefined
}

/** An opaque handle of one credential. Only the grant kit creates one. */
export interface Redemption {
  readonly [redemption]: true
}

export function createRedemption(facts: RedemptionFacts): Redemption {
  const made = Object.freeze({}) as Redemption
  known.set(made, facts)
  return made
}

/** @throws TypeError when the grant kit did not create it. */
export function factsOf(presented: Redemption): RedemptionFacts {
  const facts = known.get(presented)
  if (facts === undefined) throw new TypeError('A redemption must come from the grant kit')
  return facts
}
