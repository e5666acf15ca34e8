import type { EndpointKit, JsonObject } from '@grantry/core'
import type { JWK } from 'jose'
import { decodeProtectedHeader } from 'jose/decode/protected_header'
import * as v from 'valibot'
import { jwksUriSettingsSchema } from '../shared/jwks-settings.ts'
import { createPublishedKeys } from '../shared/jwks-uri.ts'
import type { PublishedKeySet } from '../shared/key-set.ts'
import { type JwtRules, signatureAlgorithms, verifiedJwt } from '../shared/verify-jwt.ts'
import { failed, type UpstreamFailure } from './failure.ts'
import { clockTolerance } from './library.ts'
import type { Outgoing } from './outgoing.ts'
import type { Provider, Settings } from './upstream-options.ts'

/** Characters of an identity token: one with the groups of its user is long. */
const maxTokenLength = 32_768

/** Verifies signatures with the keys that a provider publishes. */
export interface UpstreamTokens {
  /**
   * Verifies an identity token, or a logout token: with a published key, never with the client secret.
   *
   * @param expected `issuer`: that of the metadata
   */
  verify(
    jwt: string,
    expected: { readonly jwksUri: string | undefined; readonly issuer: string; readonly typ?: string },
    kit: EndpointKit,
  ): Promise<JsonObject | UpstreamFailure>
}

/** The part of the `issuer` of a key of Microsoft that stands for the tenant. */
const tenantPlaceholder = '{tenantid}'

/** Verifies a JWT, and returns which issuers its key is for: several can publish their keys in one set. */
async function verifiedBy(jwt: string, { keys, find }: PublishedKeySet, rules: JwtRules) {
  const outcome = await verifiedJwt(jwt, find, rules)
  if (outcome.payload === undefined) return outcome
  const { kid } = decodeProtectedHeader(jwt)
  const possible = keys.filter((key) => kid === undefined || key.kid === kid)
  const isOwn = ({ iss, tid }: JsonObject): boolean =>
    possible.every(({ issuer }: JWK & { readonly issuer?: unknown }) => {
      if (issuer === undefined) return true
      return typeof issuer === 'string' && issuer.replace(tenantPlaceholder, String(tid)) === iss
    })
  return { ...outcome, isOwn }
}

export function createTokens(provider: Provider, outgoing: Outgoing, { timeout, maxSize }: Settings): UpstreamTokens {
  // Uses the requests of the provider, with its rules for addresses, not those of these settings.
  const keys = createPublishedKeys(v.parse(jwksUriSettingsSchema, { timeout, maxSize }), { send: outgoing.send })
  const issuerOf = provider.adapter?.issuerOf

  return {
    async verify(jwt, { jwksUri, issuer, typ }, kit) {
      if (jwksUri === undefined) return failed('metadata_incomplete')
      if (jwt.length > maxTokenLength) return failed('token_too_long')
      const rules = {
        ...(issuerOf === undefined && { issuer }),
        ...(typ !== undefined && { typ }),
        audience: provider.clientId,
        algorithms: [...(provider.algorithms ?? signatureAlgorithms)],
        currentDate: new Date(kit.now() * 1000),
        clockTolerance,
        requiredClaims: ['iss', 'aud', 'exp', 'iat'],
      }
      const outcome = await keys.verify(jwksUri, kit, (keys) => verifiedBy(jwt, keys, rules))
      if (outcome.payload === undefined) return failed(`token_${outcome.reason}`)
      const claims = outcome.payload as JsonObject
      // The library compares `azp` only if there are several audiences.
      if (claims.azp !== undefined && claims.azp !== provider.clientId) return failed('token_azp_invalid')
      if (issuerOf === undefined) return claims
      if (issuerOf(claims) !== claims.iss) return failed('token_iss_invalid')
      return outcome.isOwn(claims) ? claims : failed('token_key_of_other_issuer')
    },
  }
}
