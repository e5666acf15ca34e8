import type { RequiredBinding } from './binding.ts'
import { kindOf, type Reason } from './refusal.ts'
import type { CheckedRequirement } from './requirement.ts'
import { authenticationParams } from './user-authentication.ts'

/** An authentication scheme that a client can use, with the parameters that it has in every challenge. */
export interface Scheme {
  readonly name: 'Bearer' | 'DPoP'
  readonly params: Readonly<Record<string, string>>
}

/** Returns the schemes that clients can use. */
export function schemesOf(
  realm: string | undefined,
  proofAlgorithms: readonly string[] | undefined,
  required: RequiredBinding | undefined,
): readonly Scheme[] {
  const params = realm === undefined ? {} : { realm }
  const bearer: readonly Scheme[] = required === 'dpop' ? [] : [{ name: 'Bearer', params }]
  if (proofAlgorithms === undefined) return bearer
  return [...bearer, { name: 'DPoP', params: { ...params, algs: proofAlgorithms.join(' ') } }]
}

/** The facts for the response to a refused request, besides the reason. */
export interface RefusalDetails {
  /** The schemes that clients can use. */
  readonly schemes: readonly Scheme[]
  /** The scheme of the refused request, whose challenge has the error. */
  readonly used: Scheme['name'] | undefined
  /** The requirement that the request did not meet. */
  readonly requirement: CheckedRequirement
  /** The URL of the metadata document of this resource, if it has one. */
  readonly metadataUrl: string | undefined
  readonly headers: Readonly<Record<string, string>>
}

// No value contains a quotation mark or a backslash: the realm, the requirement and the URL are checked when they are
// configured, the others are constants. No value comes from the request.
function challenge(name: string, params: Readonly<Record<string, string>>): string {
  const list = Object.entries(params).map(([param, value]) => `${param}="${value}"`)
  return list.length === 0 ? name : `${name} ${list.join(', ')}`
}

/** Returns the header `WWW-Authenticate`: one challenge for each scheme (RFC 9110 section 11.6.1). */
function challenges(reason: Reason, { schemes, used, requirement, metadataUrl }: RefusalDetails): string {
  const { error, description } = kindOf(reason)
  const { scopes } = requirement
  const failed = schemes.find(({ name }) => name === used) ?? schemes[0]
  return schemes
    .map(({ name, params: { algs, ...params } }) =>
      challenge(name, {
        ...params,
        ...(failed?.name === name && error !== undefined && { error, error_description: description ?? '' }),
        ...(scopes.length > 0 && { scope: scopes.join(' ') }),
        ...(error === 'insufficient_user_authentication' && authenticationParams(requirement)),
        ...(metadataUrl !== undefined && { resource_metadata: metadataUrl }),
        ...(algs !== undefined && { algs }),
      }),
    )
    .join(', ')
}

/**
 * Creates the response to a refused request.
 *
 * @see RFC 6750 section 3, RFC 9449 section 7.1, RFC 9470 section 3, RFC 9728 section 5.1
 */
export function refusalResponse(reason: Reason, details: RefusalDetails): Response {
  const { status, error, description } = kindOf(reason)
  const headers = new Headers({ 'cache-control': 'no-store', ...details.headers })
  // Without a challenge, clients keep their token. The issuer is asked for its keys again after this time.
  if (status === 503) headers.set('retry-after', '5')
  else headers.set('www-authenticate', challenges(reason, details))
  // Lets pages of other origins read the challenge.
  if (details.metadataUrl !== undefined) headers.set('access-control-expose-headers', 'WWW-Authenticate, DPoP-Nonce')
  if (description === undefined) return new Response(null, { status, headers })
  headers.set('content-type', 'application/json')
  const code = error ?? 'temporarily_unavailable'
  return new Response(JSON.stringify({ error: code, error_description: description }), { status, headers })
}

/** Returns the response of a handler with additional headers. Its own may be immutable. */
export function withHeaders(response: Response, headers: Readonly<Record<string, string>>): Response {
  const entries = Object.entries(headers)
  if (entries.length === 0) return response
  const changed = new Response(response.body, response)
  for (const [name, value] of entries) changed.headers.set(name, value)
  return changed
}
