import * as v from 'valibot'
import type { CompleteSubject } from '../directory/subject.ts'
import type { Json, JsonObject } from '../types.ts'

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
export const jsonSchema = v.custom<Json>((value) => isJson(value, 0))
export const jsonObjectSchema = v.custom<Readonly<Record<string, Json>>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value) && isJson(value, 0),
)

// The core's own records are checked by functions, not by valibot schemas: docs/decisions/0042-plain-checks-of-records.md.
// They ignore unknown members, which a later release may add, and do not remove them.

/** A record whose members have not been checked yet. */
type Unchecked<Value> = { readonly [Name in keyof Value]?: unknown }

export const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
export const isString = (value: unknown): value is string => typeof value === 'string'
export const isNumber = (value: unknown): value is number => typeof value === 'number' && !Number.isNaN(value)
const isStringOrAbsent = (value: unknown): boolean => value === undefined || isString(value)
const isStrings = (value: unknown): boolean => Array.isArray(value) && value.every(isString)
/** The values were just parsed from JSON, so their content is not checked. */
const isJsonObject = (value: unknown): boolean => isObject(value) && !Array.isArray(value)

const isConfirmation = (value: unknown): boolean =>
  isJsonObject(value) && Object.values(value as object).every(isString)

/**
 * The record of a stored grant: an authorization code, a refresh token, or a credential of a plugin. All tokens that
 * result from one authorization have the same `family`; `generation` counts rotations.
 */
export interface GrantRecord {
  readonly kind: string
  readonly issuer: string
  readonly clientId: string
  /** The grant type of the original authorization. */
  readonly grantType: string
  readonly subject: CompleteSubject
  readonly scopes: readonly string[]
  readonly family: string
  /** Epoch seconds at which the grant was stored; for a refresh token, at which the first token was issued. */
  readonly familyStartedAt: number
  readonly generation: number
  /** Epoch seconds. */
  readonly redeemableUntil: number
  /** Epoch seconds until which the record is kept to detect a replay: as long as tokens of its family can be valid. */
  readonly keptUntil: number
  readonly claims?: JsonObject
  /** The claim `act`. */
  readonly act?: JsonObject
  /** The keys that a request must prove to use the grant, by their members of `cnf`. */
  readonly cnf?: Readonly<Record<string, string>>
  readonly redirectUri?: string
  readonly nonce?: string
  /** Additional claims of the identity tokens. */
  readonly identityClaims?: JsonObject
  /** The claims of the user that the request asked for one by one. */
  readonly requestedClaims?: {
    readonly userinfo?: readonly string[] | undefined
    readonly identityToken?: readonly string[] | undefined
  }
  readonly demands?: JsonObject
  /** The audiences that the user consented to: an access token gets no others. Absent: those of the scopes. */
  readonly audience?: readonly string[]
  /** The epochs of the client and the subject under which the family began. Absent: before any revocation. */
  readonly epochs?: { readonly client?: string; readonly subject?: string }
  /** The revision when the record was written. */
  readonly revision?: string
}

function isSubject(value: unknown): boolean {
  if (!isObject(value)) return false
  const { sub, amr, authTime, idp, acr } = value as Unchecked<GrantRecord['subject']>
  return isString(sub) && isStrings(amr) && isNumber(authTime) && isString(idp) && isStringOrAbsent(acr)
}

function isEpochs(value: unknown): boolean {
  if (!isObject(value)) return false
  const { client, subject } = value as Unchecked<NonNullable<GrantRecord['epochs']>>
  return isStringOrAbsent(client) && isStringOrAbsent(subject)
}

function isRequestedClaims(value: unknown): boolean {
  if (!isObject(value)) return false
  const { userinfo = [], identityToken = [] } = value as Unchecked<NonNullable<GrantRecord['requestedClaims']>>
  return isStrings(userinfo) && isStrings(identityToken)
}

export function isGrantRecord(value: unknown): value is GrantRecord {
  if (!isObject(value)) return false
  const record = value as Unchecked<GrantRecord>
  return (
    isString(record.kind) &&
    isString(record.issuer) &&
    isString(record.clientId) &&
    isString(record.grantType) &&
    isSubject(record.subject) &&
    isStrings(record.scopes) &&
    isString(record.family) &&
    isNumber(record.familyStartedAt) &&
    isNumber(record.generation) &&
    isNumber(record.redeemableUntil) &&
    isNumber(record.keptUntil) &&
    (record.claims === undefined || isJsonObject(record.claims)) &&
    (record.act === undefined || isJsonObject(record.act)) &&
    (record.cnf === undefined || isConfirmation(record.cnf)) &&
    isStringOrAbsent(record.redirectUri) &&
    isStringOrAbsent(record.nonce) &&
    (record.identityClaims === undefined || isJsonObject(record.identityClaims)) &&
    (record.requestedClaims === undefined || isRequestedClaims(record.requestedClaims)) &&
    (record.demands === undefined || isJsonObject(record.demands)) &&
    (record.audience === undefined || isStrings(record.audience)) &&
    (record.epochs === undefined || isEpochs(record.epochs)) &&
    isStringOrAbsent(record.revision)
  )
}

/** The record of a reference token: the claims that a JWT would contain, and the revision when it was written. */
export interface AccessTokenRecord {
  readonly claims: JsonObject
  readonly revision?: string
}

export function isAccessTokenRecord(value: unknown): value is AccessTokenRecord {
  if (!isObject(value)) return false
  const { claims, revision } = value as Unchecked<AccessTokenRecord>
  return isJsonObject(claims) && isStringOrAbsent(revision)
}

/** The marker of a redeemed single-use credential. */
export interface SpentRecord {
  /** Epoch seconds. */
  readonly spentAt: number
  /**
   * The id of the attempt that spent it. Distinguishes a commit that the driver repeated after a lost response from the
   * commit of another request, and leads a retry to its replay record.
   */
  readonly attempt: string
  /** Set when failed proofs ended an authorization code: nothing was issued for it, so there is nothing to revoke. */
  readonly ended?: true
}

export function isSpentRecord(value: unknown): value is SpentRecord {
  if (!isObject(value)) return false
  const { spentAt, attempt, ended } = value as Unchecked<SpentRecord>
  return isNumber(spentAt) && isString(attempt) && (ended === undefined || ended === true)
}

/** Stands for a marker that exists but cannot be read: the credential is spent, and the request cannot be a retry. */
export const unreadableMarker: SpentRecord = { spentAt: 0, attempt: 'unreadable' }

/** What a retry needs, besides the redeemed refresh token, to derive the tokens of the first response again. */
export interface ReplayRecord {
  readonly nonce: string
  /** The id of the secret outside the storage that is needed too; absent if the provider has none. */
  readonly secret?: string | undefined
  /** Identifies the request: a request with the same id is a retry. */
  readonly request: string
}

export function isReplayRecord(value: unknown): value is ReplayRecord {
  if (!isObject(value)) return false
  const { nonce, secret, request } = value as Unchecked<ReplayRecord>
  return isString(nonce) && (secret === undefined || isString(secret)) && isString(request)
}

/** The marker of a revoked family. Its presence alone makes every token of the family invalid. */
export interface RevokedRecord {
  /** Epoch seconds. */
  readonly revokedAt: number
  readonly reason: string
}
