import type { JWK } from 'jose'
import type { GetJson, LoadKeys } from '../shared/jwks-uri.ts'
import { type PublishedKeySet, publishedKeySet } from '../shared/key-set.ts'
import type { WorkloadIssuer } from './workload-options.ts'

/** The keys of a SPIFFE bundle for JWT-SVIDs. Those for certificates must not verify one (SPIFFE JWT-SVID section 5). */
function svidKeys(bundle: unknown): { readonly keys: readonly JWK[] } {
  const { keys } = Object(bundle) as { readonly keys?: unknown }
  const jwtKeys = (Array.isArray(keys) ? keys : []).filter((key) => Object(key).use === 'jwt-svid')
  return { keys: jwtKeys.map(({ use, ...key }) => key) }
}

/** Returns the keys of an issuer in a JWK set or bundle. */
export const keysIn = (value: unknown, { platform }: WorkloadIssuer): PublishedKeySet | undefined =>
  publishedKeySet(platform === 'spiffe' ? svidKeys(value) : value)

/**
 * Follows the discovery document of an issuer to its keys. The document must name the issuer (OpenID Connect Discovery
 * section 4.3).
 */
async function discovered(issuer: string, get: GetJson): ReturnType<GetJson> {
  const { json, problem } = await get(`${issuer.replace(/\/$/u, '')}/.well-known/openid-configuration`, 1 / 2)
  const { issuer: named, jwks_uri: jwksUri } = Object(json) as {
    readonly issuer?: unknown
    readonly jwks_uri?: unknown
  }
  if (named !== issuer || typeof jwksUri !== 'string') return problem === undefined ? {} : { problem }
  return get(jwksUri, 1 / 2)
}

/** Loads the keys of issuers, by their names. */
export const createLoadKeys =
  (issuers: ReadonlyMap<string, WorkloadIssuer>): LoadKeys =>
  async (name, get) => {
    const issuer = issuers.get(name)
    if (issuer === undefined) return { problem: undefined }
    const { json, problem } = await (issuer.jwksUri === undefined ? discovered(name, get) : get(issuer.jwksUri))
    return keysIn(json, issuer) ?? { problem }
  }
