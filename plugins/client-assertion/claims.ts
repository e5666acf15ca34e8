import type { Kit } from '@grantry/core'
import type { JWTPayload } from 'jose'
import { claimsProblem, singleUseOf } from '../shared/jwt-claims.ts'
import type { AcceptedAudience, Settings } from './settings.ts'

/** Checks the claims that jose does not check, and spends the assertion. Returns `true`, or the reason of a refusal. */
export type ClaimsCheck = (
  payload: JWTPayload,
  presented: { readonly clientId: string; readonly audience: AcceptedAudience },
  kit: Kit,
) => Promise<true | { readonly reason: string }>

/** @see RFC 7523 section 3 */
export function createClaimsCheck({ tokenEndpoint, maxLifetime, clockTolerance }: Settings): ClaimsCheck {
  return async (payload, { clientId, audience }, kit) => {
    const { aud, exp = 0, jti = '' } = payload
    const accepted = audience === 'issuer' ? [] : tokenEndpoint === undefined ? kit.tokenEndpoints : [tokenEndpoint]
    // One string: an assertion for several servers could be forwarded by one of them to another.
    if (audience === 'issuer' && typeof aud !== 'string') return { reason: 'aud_invalid' }
    const rules = { audience: [kit.issuer, ...accepted], now: kit.now(), maxLifetime, clockTolerance }
    const reason = claimsProblem(payload, rules)
    if (reason !== undefined) return { reason }
    // Last, so that only the client itself can fill the storage.
    const { id, expiresAt } = singleUseOf(clientId, jti, exp, clockTolerance)
    return (await kit.records.insert(id, true, expiresAt)) || { reason: 'replayed' }
  }
}
