import type { Client } from '../directory/client.ts'
import type { CompleteSubject } from '../directory/user-service.ts'
import type { Confirmation } from '../parts/grant.ts'
import type { TokenBindings } from '../parts/token-binding.ts'
import { recordedAuthorization } from '../records/authorization.ts'
import type { NewRecord } from '../records/envelope.ts'
import { fingerprintOf, keyOf } from '../records/keys.ts'
import type { GrantRecord } from '../records/schemas.ts'
import type { Runtime } from '../runtime.ts'
import { recordedEpochs } from '../tokens/epochs.ts'
import type { RevocationMark } from '../tokens/revocation-mark.ts'
import { maxTokenLifetime } from '../tokens/stored-grant.ts'
import type { Contributed } from './contributions.ts'
import type { Issuance } from './issuance.ts'
import type { CredentialDetails } from './redemption.ts'
import type { CheckedResult } from './result.ts'
import { authorizedScopes } from './scope-policy.ts'

/** What a refresh token depends on, besides its user and family. */
export interface RefreshTokenRequest {
  readonly result: CheckedResult
  /** What the grant checks add. */
  readonly contributed: Contributed
  readonly client: Client
  /** The keys that the request has proved: the tokens are bound to them. */
  readonly confirmation: Confirmation | undefined
  readonly grantType: string
  readonly issuance: Issuance
}

/**
 * Mints the next refresh token of a family, or the first one. Returns `undefined` if the family has reached its absolute
 * lifetime.
 */
export type MintRefreshToken = (
  request: RefreshTokenRequest,
  subject: CompleteSubject,
  family: string,
  mark: RevocationMark,
) => { readonly token: string; readonly record: NewRecord<GrantRecord>; readonly fingerprint: string } | undefined

/** The refresh token that stays the same. A spent one was rotated before its client was switched to `reuse`. */
export const continuedIn = ({ continues }: CheckedResult): CredentialDetails | undefined =>
  continues?.spent === undefined ? continues : undefined

export function createMintRefreshToken(deps: {
  readonly issuer: string
  readonly bindings: TokenBindings
  readonly runtime: Runtime
}): MintRefreshToken {
  const { issuer, bindings, runtime } = deps
  return (request, subject, family, { epochs, revision: recorded }) => {
    const { result, contributed, client, confirmation, grantType, issuance } = request
    const now = issuance.at
    const previous = result.stored?.record
    // Counted from the first token of the family, not from the code.
    const startedAt = previous?.kind === 'refresh' ? previous.familyStartedAt : now
    const { absoluteLifetime, slidingLifetime } = client.refreshToken
    const expiresAt = Math.min(startedAt + absoluteLifetime, now + slidingLifetime)
    if (expiresAt <= now) return undefined
    // `reuse`: the token stays the same and gets a later expiry.
    const token = continuedIn(result)?.credential ?? runtime.base64url(issuance.refreshToken)
    const hash = runtime.sha256Hex(token)
    // Never earlier than for an earlier token of the family, even if the configured lifetimes have been shortened.
    const keptUntil = Math.max(previous?.keptUntil ?? 0, startedAt + absoluteLifetime + maxTokenLifetime(client))
    // RFC 8707 section 2.2: the audiences of the authorization, also if this access token has fewer.
    const audience = result.stored === undefined ? (contributed.audience ?? result.audience) : previous?.audience
    // The demands of a code were for its redemption. Those of a refresh token, such as its key, stay.
    const demands = { ...(previous?.kind === 'refresh' && previous.demands), ...contributed.demands }
    const cnf =
      bindings.refreshConfirmationOf(client, confirmation) ?? (previous?.kind === 'refresh' ? previous.cnf : undefined)
    const value: GrantRecord = {
      kind: 'refresh',
      issuer,
      clientId: client.clientId,
      grantType: previous?.grantType ?? grantType,
      family,
      familyStartedAt: startedAt,
      generation: (previous?.generation ?? 0) + 1,
      redeemableUntil: expiresAt,
      keptUntil,
      // Before the spreads: after one, it takes half a microsecond (bench/PROFILE.md).
      revision: recorded,
      ...recordedEpochs(epochs),
      ...recordedAuthorization({
        subject,
        scopes: authorizedScopes(result),
        audience,
        claims: result.claims,
        act: result.act,
        identityClaims: result.identityClaims,
        requestedClaims: result.requestedClaims,
        demands,
        cnf,
        // The nonce belongs to the first identity token (OpenID Connect Core section 12.2).
        nonce: undefined,
        // A redemption compares it with that of the code (RFC 6749 section 4.1.3); a refresh names none.
        redirectUri: undefined,
      }),
    }
    const record: NewRecord<GrantRecord> = { key: keyOf('refresh', hash), value, expiresAt: keptUntil }
    return { token, record, fingerprint: fingerprintOf(hash) }
  }
}
