import type { CompleteSubject } from '../directory/user-service.ts'
import { isJsonObject, isNumber, isObject, isString, isStringOrAbsent, isStrings, type Unchecked } from '../json.ts'
import type { JsonObject } from '../types.ts'
import { type Authorization, isAuthorization } from './authorization.ts'

/**
 * The record of a stored grant: an authorization code, a refresh token, or a credential of a plugin. All tokens that
 * result from one authorization have the same `family`; `generation` counts rotations.
 */
export interface GrantRecord extends Authorization {
  readonly kind: string
  readonly issuer: string
  readonly clientId: string
  /** The grant type of the original authorization. */
  readonly grantType: string
  readonly subject: CompleteSubject
  readonly family: string
  /** Epoch seconds at which the grant was stored; for a refresh token, at which the first token was issued. */
  readonly familyStartedAt: number
  readonly generation: number
  /** Epoch seconds. */
  readonly redeemableUntil: number
  /** Epoch seconds until which the record is kept to detect a replay: as long as tokens of its family can be valid. */
  readonly keptUntil: number
  /** The epochs under which the family began. Absent: before any revocation. */
  readonly epochs?:
    | {
        readonly client?: string
        readonly subject?: string
        readonly withdrawal?: string
        readonly origins?: readonly string[]
      }
    | undefined
  /** The revision when the record was written. */
  readonly revision?: string | undefined
}

function isEpochs(value: unknown): boolean {
  if (!isObject(value)) return false
  const { client, subject, withdrawal, origins } = value as Unchecked<NonNullable<GrantRecord['epochs']>>
  return [client, subject, withdrawal].every(isStringOrAbsent) && (origins === undefined || isStrings(origins))
}

export function isGrantRecord(value: unknown): value is GrantRecord {
  if (!isObject(value)) return false
  const record = value as Unchecked<GrantRecord>
  return (
    isString(record.kind) &&
    isString(record.issuer) &&
    isString(record.clientId) &&
    isString(record.grantType) &&
    isAuthorization(record) &&
    isString(record.family) &&
    isNumber(record.familyStartedAt) &&
    isNumber(record.generation) &&
    isNumber(record.redeemableUntil) &&
    isNumber(record.keptUntil) &&
    (record.epochs === undefined || isEpochs(record.epochs)) &&
    isStringOrAbsent(record.revision)
  )
}

/** The record of a reference token: the claims that a JWT would contain, and the revision when it was written. */
export interface AccessTokenRecord {
  readonly claims: JsonObject
  readonly revision?: string | undefined
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
