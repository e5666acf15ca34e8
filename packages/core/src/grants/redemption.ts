import type { Redemption } from '../parts/grant-kit.ts'
import type { GrantRecord, SpentRecord } from '../records/schemas.ts'
import type { ClientState } from '../tokens/revocation-epochs.ts'

// Details are kept in a WeakMap, not on the object, so that a plugin cannot read, copy or change them.
const known = new WeakMap<Redemption, CredentialDetails>()

/** What the core knows about a credential that a grant redeems or continues. Hidden from plugins. */
export interface CredentialDetails {
  /** The kind of the stored grant; `plugin` for a single-use credential of a plugin. */
  readonly kind: string
  /** Hex SHA-256 of the credential. */
  readonly hash: string
  /** Epoch seconds until which the credential, and therefore its spent marker, is valid. */
  readonly expiresAt: number
  /** The credential itself, from which the tokens of a retry are derived. It is never stored or shown. */
  readonly credential?: string
  readonly record?: GrantRecord
  /** The revision of the issuer when the record was read, for the records that continue it. */
  readonly revision?: string | undefined
  /** The state of the client of the request, read together with the record. */
  readonly clientState?: ClientState | undefined
  /** The spent marker, if it was found at lookup. Then the request is a retry or a replay. */
  readonly spent?: SpentRecord | undefined
}

/** Remembers what the core knows about a credential, under the object that the kit returns to the grant. */
export function createRedemption<T extends object>(details: CredentialDetails, shown: T): T & Redemption {
  const created = Object.freeze(shown) as T & Redemption
  known.set(created, details)
  return created
}

/** @throws TypeError when the grant kit did not create it. */
export function detailsOf(presented: Redemption): CredentialDetails {
  const details = known.get(presented)
  if (details === undefined) throw new TypeError('A redemption must come from the grant kit')
  return details
}

/** The family of a presented token, and when its tokens end. */
export interface Lineage {
  /** `undefined` if the token has no family. */
  readonly family: string | undefined
  /** Epoch seconds. What continues the family expires no later. */
  readonly expiresAt: number
  /** Set for a stored refresh token. */
  readonly stored?: CredentialDetails & { readonly record: GrantRecord }
}

// Kept in a WeakMap, not on the object, so that a plugin cannot create or change a lineage.
const lineages = new WeakMap<object, Lineage>()

/** Remembers the family of what the kit returns to a grant. */
export function withLineage<T extends object>(presented: T, lineage: Lineage): T {
  const frozen = Object.freeze(presented)
  lineages.set(frozen, lineage)
  return frozen
}

/** @throws TypeError when the grant kit did not return it, or it is a code: that must be redeemed. */
export function lineageOf(presented: object): Lineage {
  const lineage = lineages.get(presented)
  if (lineage === undefined) {
    throw new TypeError('continuesFamilyOf must be a token or a stored refresh token from the grant kit')
  }
  return lineage
}
