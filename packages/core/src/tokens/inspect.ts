import { keyOf } from '../records/keys.ts'
import { type GrantRecord, isAccessTokenRecord } from '../records/schemas.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import type { JsonObject } from '../types.ts'
import type { AccessTokens } from './access-token.ts'
import type { AuthorizationStatus } from './authorization-status.ts'
import { familyIn, identityFamilyIn } from './claims.ts'
import type { IdentityTokens } from './identity-token.ts'
import { decodeJwt, type Jwt, maxJwtLength } from './jwt.ts'
import type { StoredGrants, StoredRecord } from './stored-grant.ts'

/** The kind and the claims of a token, and whether it is currently valid. */
export interface TokenInspection {
  readonly kind: 'access_token' | 'identity_token' | 'refresh_token' | 'authorization_code' | 'unknown'
  /** `reference`: found in the storage by its hash. */
  readonly format: 'jwt' | 'reference' | undefined
  readonly valid: boolean
  /**
   * Why the token is not valid: a reason of `validation_failed`, or `expired`, `not_yet_valid`, `signature_invalid`,
   * `issuer_mismatch`, `spent`.
   */
  readonly reason?: string | undefined
  /** The claims of the token. They are not verified if the reason is `signature_invalid`. */
  readonly claims: JsonObject
  /** The family of the token (its `grant_id` or `txn`), if it has one; for `revoke({ family })`. */
  readonly family?: string | undefined
}

/**
 * Inspects a token of any kind. Spends nothing, changes nothing and records no event.
 *
 * @throws OAuthError `temporarily_unavailable` when the storage fails.
 */
export type Inspect = (token: string) => Promise<TokenInspection>

const unknown: TokenInspection = {
  kind: 'unknown',
  format: undefined,
  valid: false,
  reason: 'token_unknown',
  claims: {},
}

const familyMember = (family: string | undefined): { readonly family?: string } =>
  family === undefined ? {} : { family }

/** Describes a stored grant with token claims. */
const claimsOf = ({ record }: { readonly record: GrantRecord }): JsonObject => ({
  iss: record.issuer,
  client_id: record.clientId,
  sub: record.subject.sub,
  scope: record.scopes.join(' '),
  auth_time: record.subject.authTime,
  idp: record.subject.idp,
  amr: record.subject.amr,
  iat: record.familyStartedAt,
  exp: record.redeemableUntil,
  grant_id: record.family,
  grant_type: record.grantType,
  generation: record.generation,
  ...(record.cnf !== undefined && { cnf: record.cnf }),
})

export function createInspect(deps: {
  readonly issuer: string
  readonly store: Store
  readonly accessTokens: AccessTokens
  readonly identityTokens: IdentityTokens
  readonly storedGrants: StoredGrants
  readonly authorizationStatus: AuthorizationStatus
  readonly jwt: Jwt
  readonly runtime: Runtime
}): Inspect {
  const { issuer, store, accessTokens, identityTokens, storedGrants, authorizationStatus, jwt, runtime } = deps

  /** Distinguishes, for the operator, the causes that `token_unknown` combines for other callers. */
  async function whyNot(token: string, type: 'at+jwt' | 'JWT', claims: JsonObject): Promise<string> {
    if (claims.iss !== issuer) return 'issuer_mismatch'
    if ((await jwt.verify(token, type, Number.POSITIVE_INFINITY)) === undefined) return 'signature_invalid'
    return Number(claims.exp) <= runtime.now() ? 'expired' : 'not_yet_valid'
  }

  async function inspectJwt(token: string): Promise<TokenInspection> {
    const decoded = decodeJwt(token)
    if (decoded === undefined) return unknown
    const { type, claims } = decoded
    const kind = type === 'at+jwt' ? 'access_token' : 'identity_token'
    const audience = Array.isArray(claims.aud) ? claims.aud[0] : claims.aud
    const validation =
      type === 'at+jwt'
        ? await accessTokens.validate(token)
        : await identityTokens.validate(token, typeof audience === 'string' ? audience : '')
    const family = type === 'at+jwt' ? familyIn(claims) : identityFamilyIn(claims)
    const shared = { kind, format: 'jwt', claims, ...familyMember(family) } as const
    if (validation.valid) return { ...shared, valid: true }
    const reason = validation.reason === 'token_unknown' ? await whyNot(token, type, claims) : validation.reason
    return { ...shared, valid: false, reason }
  }

  async function inspectReference(token: string, claims: JsonObject): Promise<TokenInspection> {
    const shared = { kind: 'access_token', format: 'reference', claims, ...familyMember(familyIn(claims)) } as const
    const validation = await accessTokens.validate(token)
    if (validation.valid) return { ...shared, valid: true }
    return { ...shared, valid: false, reason: validation.reason === 'token_unknown' ? 'expired' : validation.reason }
  }

  async function reasonAgainst({ record, spent }: StoredRecord): Promise<string | undefined> {
    const { clientId, subject, family, epochs = {} } = record
    const { reason } = await authorizationStatus({ clientId, sub: subject.sub, family, epochs })
    if (reason === 'family_revoked') return reason
    if (spent !== undefined) return 'spent'
    return record.redeemableUntil <= runtime.now() ? 'expired' : reason
  }

  return async (token) => {
    if (typeof token !== 'string' || token.length > maxJwtLength) return unknown
    if (token.includes('.')) return inspectJwt(token)
    const [access, refresh, code] = await Promise.all([
      store.get(keyOf('access', runtime.sha256Hex(token)), isAccessTokenRecord),
      storedGrants.find('refresh', token),
      storedGrants.find('code', token),
    ])
    if (access !== undefined) return access.claims.iss === issuer ? inspectReference(token, access.claims) : unknown
    const stored = refresh ?? code
    if (stored === undefined) return unknown
    const reason = await reasonAgainst(stored)
    return {
      kind: refresh === undefined ? 'authorization_code' : 'refresh_token',
      format: 'reference',
      valid: reason === undefined,
      ...(reason !== undefined && { reason }),
      claims: claimsOf(stored),
      family: stored.record.family,
    }
  }
}
