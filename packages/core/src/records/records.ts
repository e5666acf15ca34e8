import * as v from 'valibot'
import type { Json } from '../json.ts'

const deepest = 16

/** Whether JSON can hold it: what it cannot (a date, a bigint, a cycle) must not be changed or lost on the way. */
function isJson(value: unknown, depth: number): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || depth > deepest) return false
  if (Array.isArray(value)) return value.every((item) => isJson(item, depth + 1))
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return false
  return Object.values(value).every((item) => isJson(item, depth + 1))
}

/** For what foreign code hands over. */
export const jsonObjectSchema = v.custom<Readonly<Record<string, Json>>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value) && isJson(value, 0),
)

/** For what was JSON a moment ago. */
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
 * What was authorized and can be redeemed: the record of an authorization code and of a refresh token.
 * `family` names everything that comes from one authorization; `generation` counts rotations.
 */
export const grantRecordSchema = v.object({
  kind: v.picklist(['code', 'refresh']),
  issuer: v.string(),
  clientId: v.string(),
  /** The grant type that began the family. */
  grantType: v.string(),
  subject: subjectSchema,
  scopes: v.array(v.string()),
  family: v.string(),
  /** Epoch seconds of the code; in the record of a refresh token, of the first token. */
  familyStartedAt: v.number(),
  generation: v.number(),
  redeemableUntil: v.number(),
  /** How long the record stays to recognise a replay: as long as tokens of its family can live. */
  keptUntil: v.number(),
  claims: v.exactOptional(objectSchema),
  redirectUri: v.exactOptional(v.string()),
  nonce: v.exactOptional(v.string()),
  demands: v.exactOptional(objectSchema),
  /** After which revocations of its client and subject it began; absent: before any. */
  epochs: v.exactOptional(v.object({ client: v.exactOptional(v.string()), subject: v.exactOptional(v.string()) })),
})
export type GrantRecord = v.InferOutput<typeof grantRecordSchema>

/** A reference token: the claims that a JWT would carry. */
export const accessTokenRecordSchema = v.object({ claims: objectSchema })
export type AccessTokenRecord = v.InferOutput<typeof accessTokenRecordSchema>

/** Says that a single-use credential was redeemed, by which request, and where its answer waits for a retry. */
export const spentRecordSchema = v.object({
  spentAt: v.number(),
  /** Who spent it: an insert whose answer was lost, and that was sent again, is told from another's. */
  attempt: v.string(),
  /** An authorization code that failed proofs have ended: nothing was issued for it, so there is nothing to revoke. */
  ended: v.exactOptional(v.literal(true)),
  replay: v.exactOptional(v.object({ nonce: v.string(), until: v.number(), request: v.string() })),
})
export type SpentRecord = v.InferOutput<typeof spentRecordSchema>

/** Stands for a marker that is there and cannot be read: spent, by nobody whose answer could be given again. */
export const unreadableMarker: SpentRecord = { spentAt: 0, attempt: 'unreadable' }

/** A complete token response, encrypted under a key that only the holder of the redeemed refresh token can derive. */
export const replayRecordSchema = v.object({ sealed: v.string() })

/** Its presence alone means that every token of the family is refused. */
export interface RevokedRecord {
  readonly revokedAt: number
  readonly reason: string
}
