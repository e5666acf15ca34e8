import type { CredentialRefusal, Kit } from '@grantry/core'
import type { JWTPayload } from 'jose'
import { claimsProblem, singleUseOf } from '../shared/jwt-claims.ts'
import { keptRecord } from '../shared/kept-record.ts'
import type { AcceptedAudience, Settings } from './assertion-settings.ts'
import { claimHints, refusalFor } from './hints.ts'

/** The values that the claims of an assertion are compared with. */
export interface Expectations {
  readonly clientId: string
  readonly alg: string
  readonly audience: AcceptedAudience
  /** The URLs of the endpoint that was called. */
  readonly endpointUrls: readonly string[]
}

/** Checks the claims that jose does not check, and spends the assertion. Returns `true`, or why it is refused. */
export type ClaimsCheck = (payload: JWTPayload, expected: Expectations, kit: Kit) => Promise<true | CredentialRefusal>

/** @see RFC 7523 section 3; RFC 9126 section 2 */
export function createClaimsCheck(settings: Settings): ClaimsCheck {
  const { tokenEndpoint, maxLifetime, clockTolerance } = settings
  return async (payload, { clientId, alg, audience, endpointUrls }, kit) => {
    const { aud, exp = 0, jti = '' } = payload
    const now = kit.now()
    const tokenEndpoints = tokenEndpoint === undefined ? kit.tokenEndpoints : [tokenEndpoint]
    const accepted = [kit.issuer, ...tokenEndpoints, ...endpointUrls]
    const reason = claimsProblem(payload, { audience: accepted, now, maxLifetime, clockTolerance })
    // One string: an assertion for several servers could be forwarded by one of them to another.
    const isTooWide = audience === 'issuer' && aud !== kit.issuer
    if (reason === 'aud_invalid' || isTooWide) {
      return { reason: 'aud_invalid', detail: claimHints.audience(reason !== 'aud_invalid') }
    }
    if (reason === 'exp_too_late') return { reason, detail: claimHints.lifetime(exp - now) }
    if (reason !== undefined) return refusalFor(reason, alg, settings)
    // Comes last, so that only the client itself can fill the storage.
    const { id, expiresAt } = singleUseOf(clientId, jti, exp, clockTolerance)
    return (await kit.records.insert(id, true, expiresAt, keptRecord)) || { reason: 'replayed' }
  }
}
