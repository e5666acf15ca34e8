import type { GrantRecord, SpentRecord } from '../records/records.ts'

declare const redemption: unique symbol

// Beside the object, not on it: a plugin can neither read nor copy nor change what it stands for.
const known = new WeakMap<Redemption, RedemptionFacts>()

/** What the core knows of a credential that a grant wants to spend. Plugins pass it on without looking inside. */
export interface RedemptionFacts {
  readonly kind: 'code' | 'refresh' | 'plugin'
  /** Hex SHA-256 of the credential. */
  readonly hash: string
  /** Epoch seconds until which the credential, and so the marker that it is spent, counts. */
  readonly expiresAt: number
  /** The credential itself, for the key of its replay. It is never stored or shown. */
  readonly credential?: string
  readonly record?: GrantRecord
  /** Found already when the credential was looked up: then nothing is minted for a replay. */
  readonly spent?: SpentRecord | undefined
}

/** Stands for one single-use credential; made by the grant kit only. */
export interface Redemption {
  readonly [redemption]: true
}

export function createRedemption(facts: RedemptionFacts): Redemption {
  const made = Object.freeze({}) as Redemption
  known.set(made, facts)
  return made
}

/** @throws TypeError when a plugin made it up. */
export function factsOf(presented: Redemption): RedemptionFacts {
  const facts = known.get(presented)
  if (facts === undefined) throw new TypeError('A redemption must come from the grant kit')
  return facts
}
