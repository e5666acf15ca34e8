import { type ClientOptions, type JsonObject, parseUrl, redirectUriProblem } from '@grantry/core'
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
