import * as v from 'valibot'
import type { Json } from '../types.ts'

const maxDepth = 16

/** Whether JSON can represent the value without loss. False for dates, bigints and cycles, for example. */
function isJson(value: unknown, depth: number): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || depth > maxDepth) return false
  if (Array.isArray(value)) return value.every((item) => isJson(item, depth + 1))
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return false
  return Object.values(value).every((item) => isJson(item, depth + 1))
}

/** For values from plugins and the host. */
export const jsonObjectSchema = v.custom<Readonly<Record<string, Json>>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value) && isJson(value, 0),
)

/** For values that were just parsed from JSON. */
const objectSchema = v.custom<Readonly<Record<string, Json>>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
)

const subjectSchema = v.object({
  sub: v.string(),
  amr: v.array(v.string()),
  authTime: v.number(),
  idp: v.string(),
  acr: v.exactOptional(v.string()),
})

/**
 * The record of an authorization code or refresh token. All tokens that result from one authorization have the same
 * `family`; `generation` counts rotations.
 */
export const grantRecordSchema = v.object({
  kind: v.picklist(['code', 'refresh']),
  issuer: v.string(),
  clientId: v.string(),
  /** The grant type of the original authorization. */
  grantType: v.string(),
  subject: subjectSchema,
  scopes: v.array(v.string()),
  family: v.string(),
  /** Epoch seconds at which the code was created; for a refresh token, at which the first token was issued. */
  familyStartedAt: v.number(),
  generation: v.number(),
  redeemableUntil: v.number(),
  /** Epoch seconds until which the record is kept to detect a replay: as long as tokens of its family can be valid. */
  keptUntil: v.number(),
  claims: v.exactOptional(objectSchema),
  redirectUri: v.exactOptional(v.string()),
  nonce: v.exactOptional(v.string()),
  demands: v.exactOptional(objectSchema),
  /** The epochs of the client and the subject under which the family began. Absent: before any revocation. */
  epochs: v.exactOptional(v.object({ client: v.exactOptional(v.string()), subject: v.exactOptional(v.string()) })),
  /** The revision when the record was written. */
  revision: v.exactOptional(v.string()),
})
export type GrantRecord = v.InferOutput<typeof grantRecordSchema>

/** The record of a reference token: the claims that a JWT would contain, and the revision when it was written. */
export const accessTokenRecordSchema = v.object({ claims: objectSchema, revision: v.exactOptional(v.string()) })
export type AccessTokenRecord = v.InferOutput<typeof accessTokenRecordSchema>

/**
 * The marker of a redeemed single-use credential: when and by which request it was spent, and where a retry finds its
 * response.
 */
export const spentRecordSchema = v.object({
  spentAt: v.number(),
  /**
   * The id of the attempt that spent it. Distinguishes an insert that the driver retried after a lost response from the
   * insert of another request.
   */
  attempt: v.string(),
  /** Set when failed proofs ended an authorization code: nothing was issued for it, so there is nothing to revoke. */
  ended: v.exactOptional(v.literal(true)),
  replay: v.exactOptional(v.object({ nonce: v.string(), until: v.number(), request: v.string() })),
})
export type SpentRecord = v.InferOutput<typeof spentRecordSchema>

/** Replaces a marker that exists but cannot be read: the credential is spent, and no response can be replayed. */
export const unreadableMarker: SpentRecord = { spentAt: 0, attempt: 'unreadable' }

/** A token response, encrypted under a key that only the holder of the redeemed refresh token can derive. */
export const replayRecordSchema = v.object({ sealed: v.string() })

/** The marker of a revoked family. Its presence alone makes every token of the family invalid. */
export interface RevokedRecord {
  readonly revokedAt: number
  readonly reason: string
}
