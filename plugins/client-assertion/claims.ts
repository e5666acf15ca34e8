import { defaultPaths, type Kit } from '@grantry/core'
import type { JWTPayload } from 'jose'
import type { Settings } from './settings.ts'

const maxIdLength = 256

/** Checks the claims that jose does not check, and spends the assertion. Returns `true`, or the reason of a refusal. */
export type ClaimsCheck = (
  payload: JWTPayload,
  clientId: string,
  kit: Kit,
) => Promise<true | { readonly reason: string }>

/** @see RFC 7523 section 3 */
export function createClaimsCheck({ audience, tokenEndpoint, maxLifetime, clockTolerance }: Settings): ClaimsCheck {
  function isAudience(aud: unknown, issuer: string): boolean {
    // One string: an assertion for several servers could be forwarded by one of them to another.
    if (audience === 'issuer') return aud === issuer
    const accepted: readonly unknown[] = [issuer, tokenEndpoint ?? `${issuer}${defaultPaths.token}`]
    const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud]
    return audiences.length > 0 && audiences.every((one) => accepted.includes(one))
  }

  return async ({ aud, exp = 0, iat, jti }, clientId, kit) => {
    const now = kit.now()
    if (!isAudience(aud, kit.issuer)) return { reason: 'aud_invalid' }
    // Bounds how long the id must be kept.
    if (exp > now + maxLifetime + clockTolerance) return { reason: 'exp_too_late' }
    if (iat !== undefined && !(typeof iat === 'number' && iat <= now + clockTolerance)) return { reason: 'iat_invalid' }
    if (typeof jti !== 'string' || jti === '' || jti.length > maxIdLength) return { reason: 'jti_invalid' }
    // Last, so that only the client itself can fill the storage.
    const isFirst = await kit.records.insert(JSON.stringify([clientId, jti]), true, Math.ceil(exp + clockTolerance) + 1)
    return isFirst || { reason: 'replayed' }
  }
}
