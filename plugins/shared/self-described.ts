import { type ClientOptions, type Json, type JsonObject, type Kit, parseUrl, redirectUriProblem } from '@grantry/core'
import * as v from 'valibot'
import { clientMembers } from './client-members.ts'

// What clients say about themselves, in the names of RFC 7591: in a document, or when they register.

export const stringsIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []

/** Returns the value if a client of the configuration could have it. A mistake in a text or link refuses no client. */
function usable<M extends 'clientName' | 'clientUri' | 'logoUri' | 'policyUri' | 'tosUri'>(member: M, value: unknown) {
  const parsed = v.safeParse(clientMembers[member], value)
  return parsed.success && parsed.output !== undefined ? { [member]: parsed.output } : {}
}

/** More are cut off, before anything else is done with a text of a stranger. */
const maxGiven = 1000

/**
 * Removes characters that users cannot see, and that could reverse the text around the name. Of the marks above and below a
 * letter, two are left, as languages have them: more would climb over other lines of the page.
 */
const visible = (name: unknown): string | undefined =>
  typeof name === 'string'
    ? name
        .slice(0, maxGiven)
        .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '')
        .normalize('NFC')
        .replaceAll(/([\p{Mn}\p{Me}]{2})[\p{Mn}\p{Me}]+/gu, '$1')
        .replace(/^[\p{M}\s]+/u, '')
        .trim()
        .slice(0, 100)
        // Half of a character at the end.
        .replace(/\p{Cs}$/u, '') || undefined
    : undefined

/** Returns what pages show about a client. What they cannot show is left out. */
const shownMembers = (metadata: JsonObject): Partial<ClientOptions> => ({
  ...usable('clientName', visible(metadata.client_name)),
  ...usable('clientUri', metadata.client_uri),
  ...usable('logoUri', metadata.logo_uri),
  ...usable('policyUri', metadata.policy_uri),
  ...usable('tosUri', metadata.tos_uri),
})

const loopback = /^http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)(?:[:/?]|$)/u

/** Returns why a client that has described itself cannot receive codes there; `undefined` if it can. */
export function ownRedirectProblem(uri: string): string | undefined {
  // Without TLS, the code could be read on the way.
  const isReadable = /^http:/iu.test(uri) && !loopback.test(uri)
  return redirectUriProblem(uri) ?? (isReadable ? 'must use https, or http on the machine of the user' : undefined)
}

/** Returns the origins of pages among redirect URIs. */
export const originsOf = (uris: readonly string[]): readonly string[] => [
  ...new Set(uris.flatMap((uri) => (/^https?:/u.test(uri) ? [parseUrl(uri)?.origin ?? []].flat() : []))),
]

/** The methods that a client names: one, or a list (OpenID Connect Relying Party Metadata Choices). */
export function namedMethods(metadata: JsonObject): readonly string[] {
  const { token_endpoint_auth_method: one, token_endpoint_auth_methods_supported: several } = metadata
  return [...(typeof one === 'string' ? [one] : []), ...stringsIn(several)]
}

/** Returns those of the names that are allowed; all allowed ones if it has none of them. */
export function narrowed(allowed: readonly string[], names: readonly string[]): readonly string[] {
  const both = allowed.filter((name) => names.includes(name))
  return both.length === 0 ? allowed : both
}

/** Returns the scopes that a client can ask for: those that it names, or all. */
export const narrowedScopes = (allowed: readonly string[], { scope }: JsonObject): readonly string[] =>
  narrowed(allowed, typeof scope === 'string' ? scope.split(' ') : [])

const isDemanded = (value: unknown): boolean => value !== false

/**
 * What a client demands for the protection of its users or tokens, by the values that demand it. A provider without it refuses
 * the client: it would have less than it asks for, and does not learn so from a document. All other metadata that the provider
 * does not have is left out.
 */
const demands: Readonly<Record<string, (value: unknown) => boolean>> = {
  // RFC 9449 section 5.2, RFC 8705 section 3.4, RFC 9126 section 6, RFC 9101 section 10.5.
  dpop_bound_access_tokens: isDemanded,
  tls_client_certificate_bound_access_tokens: isDemanded,
  require_pushed_authorization_requests: isDemanded,
  require_signed_request_object: isDemanded,
  // OpenID Connect Dynamic Client Registration 1.0 section 2.
  default_max_age: isDemanded,
  id_token_signed_response_alg: isDemanded,
  id_token_encrypted_response_alg: isDemanded,
  userinfo_signed_response_alg: isDemanded,
  userinfo_encrypted_response_alg: isDemanded,
  subject_type: (value) => value !== 'public',
}

/** What reading metadata needs of a kit. */
export type MetadataKit = Pick<Kit, 'clientMetadata' | 'signingAlgorithms'>

/** What a client asks for, in members and in the names of metadata, or why it cannot have it. */
export type Requested =
  | { readonly members: Partial<ClientOptions>; readonly granted: JsonObject }
  | { readonly reason: 'metadata_malformed' | 'demand_unsupported'; readonly text: string }

const valueIn = (metadata: JsonObject, name: string) =>
  Object.hasOwn(metadata, name) ? (metadata[name] ?? undefined) : undefined

/** Reads the metadata that members of this provider and its plugins represent. */
export function requestedMembers(metadata: JsonObject, kit: MetadataKit): Requested {
  const members: Record<string, Json> = {}
  const granted: Record<string, Json> = {}
  const problems = new Map<string, string>()
  for (const [name, { member, schema }] of kit.clientMetadata) {
    const value = valueIn(metadata, name)
    if (value === undefined) continue
    const { success, issues = [] } = v.safeParse(schema, value)
    const isSignable = member !== 'identityTokenAlgorithm' || kit.signingAlgorithms.some((known) => known === value)
    if (!success) problems.set(name, issues[0]?.message ?? 'is malformed')
    else if (!isSignable) problems.set(name, `must be one of ${kit.signingAlgorithms.join(', ')}`)
    else {
      members[member] = value
      granted[name] = value
    }
  }
  for (const [name, isDemand] of Object.entries(demands)) {
    const value = valueIn(metadata, name)
    if (value === undefined || name in granted || !isDemand(value)) continue
    const problem = problems.get(name)
    return problem === undefined
      ? { reason: 'demand_unsupported', text: `${name} is not supported by this server` }
      : { reason: 'metadata_malformed', text: `${name} ${problem}` }
  }
  // Identity tokens always contain it.
  const { require_auth_time: authTime } = metadata
  return {
    members: members as Partial<ClientOptions>,
    granted: { ...granted, ...(authTime === true && { require_auth_time: true }) },
  }
}

/** Returns the members that each client has which describes itself. Users are always asked about it. */
export const selfDescribedMembers = (
  metadata: JsonObject,
  redirectUris: readonly string[],
  settings: Required<Pick<ClientOptions, 'refreshToken' | 'selfDescribed'>>,
): Partial<ClientOptions> => ({
  redirectUris: [...redirectUris],
  allowedCorsOrigins: [...originsOf(redirectUris)],
  ...shownMembers(metadata),
  ...settings,
  requireConsent: true,
})
