import type { ClientDirectory } from '../directory/clients.ts'
import { isActive, type UserService } from '../directory/user-service.ts'
import type { JsonObject } from '../json.ts'
import { allOf } from '../promises.ts'
import { hashOf, keyOf } from '../records/keys.ts'
import { accessTokenRecordSchema, type GrantRecord } from '../records/records.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import type { AccessTokens } from './access-token.ts'
import type { Families } from './family.ts'
import type { IdentityTokens } from './identity-token.ts'
import { decodeJwt, type Jwt, longestJwt } from './jwt.ts'
import { outdated, type RevocationEpochs } from './revocation-epochs.ts'
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
  readonly reason?: string
  /** The claims of the token. They are not verified if the reason is `signature_invalid`. */
  readonly claims: JsonObject
  /** The family of the token (its `grant_id`), if it has one; for `revoke({ family })`. */
  readonly family?: string
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

const familyIn = ({ grant_id: family }: JsonObject) => (typeof family === 'string' ? { family } : {})

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
})

export function createInspect(deps: {
  readonly issuer: string
  readonly clients: ClientDirectory
  readonly users: UserService
  readonly store: Store
  readonly accessTokens: AccessTokens
  readonly identityTokens: IdentityTokens
  readonly storedGrants: StoredGrants
  readonly families: Families
  readonly revocationEpochs: RevocationEpochs
  readonly jwt: Jwt
  readonly runtime: Runtime
}): Inspect {
  const { issuer, clients, users, store, accessTokens, identityTokens, storedGrants, families, jwt, runtime } = deps

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
    const shared = { kind, format: 'jwt', claims, ...familyIn(claims) } as const
    if (validation.valid) return { ...shared, valid: true }
    const reason = validation.reason === 'token_unknown' ? await whyNot(token, type, claims) : validation.reason
    return { ...shared, valid: false, reason }
  }

  async function inspectReference(token: string, claims: JsonObject): Promise<TokenInspection> {
    const shared = { kind: 'access_token', format: 'reference', claims, ...familyIn(claims) } as const
    const validation = await accessTokens.validate(token)
    if (validation.valid) return { ...shared, valid: true }
    return { ...shared, valid: false, reason: validation.reason === 'token_unknown' ? 'expired' : validation.reason }
  }

  async function reasonAgainst({ record, spent }: StoredRecord): Promise<string | undefined> {
    const { clientId, subject, family } = record
    const [client, revoked, epochs, active] = await allOf([
      clients.find(clientId),
      families.isRevoked(family),
      deps.revocationEpochs.current(clientId, subject.sub),
      isActive(users, subject.sub),
    ])
    if (revoked) return 'family_revoked'
    if (spent !== undefined) return 'spent'
    if (record.redeemableUntil <= runtime.now()) return 'expired'
    if (!client?.enabled) return 'client_disabled'
    return outdated(record.epochs ?? {}, epochs) ?? (active ? undefined : 'user_inactive')
  }

  return async (token) => {
    if (typeof token !== 'string' || token.length > longestJwt) return unknown
    if (token.includes('.')) return inspectJwt(token)
    const [access, refresh, code] = await allOf([
      store.get(keyOf('access', hashOf(token, runtime)), accessTokenRecordSchema),
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
