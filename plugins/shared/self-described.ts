import {
  type ClientOptions,
  isLoopbackRedirect,
  type Json,
  type JsonObject,
  type Kit,
  metadataName,
  metadataNames,
  parseUrl,
  redirectUriProblem,
} from '@grantry/core'
import * as v from 'valibot'
import { clientMembers } from './client-members.ts'

// What clients say about themselves, in the names of RFC 7591: in a document, or when they register.

export const stringsIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []

/** Returns the value if a client of the configuration could have it. A mistake in a text or link refuses no client. */
function usable<M extends 'clientName' | 'clientUri' | 'logoUri' | 'policyUri' | 'tosUri'>(member: M, value: unknown) {
  const parsed = v.safeParse(clientMembers[member].schema, value)
  return parsed.success && parsed.output !== undefined ? { [member]: parsed.output } : {}
}

/**
 * The maximum length in characters of a text of a stranger. It is cut before anything else, because other steps take
 * longer for long texts.
 */
const maxGiven = 1000

/**
 * Removes characters that users cannot see, and that could reverse the text around the name. Keeps at most two marks
 * above and below a letter, as languages have them: more would cover other lines of the page.
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

/** Returns the members of a client that pages show, without those that they cannot show. */
const shownMembers = (metadata: JsonObject): Partial<ClientOptions> => ({
  ...usable('clientName', visible(metadata.client_name)),
  ...usable('clientUri', metadata.client_uri),
  ...usable('logoUri', metadata.logo_uri),
  ...usable('policyUri', metadata.policy_uri),
  ...usable('tosUri', metadata.tos_uri),
})

/** Returns why a self-described client cannot receive codes at this URI; `undefined` if it can. */
export function ownRedirectProblem(uri: string): string | undefined {
  // Without TLS, the code could be read on the way.
  const isReadable = /^http:/iu.test(uri) && !isLoopbackRedirect(uri)
  return redirectUriProblem(uri) ?? (isReadable ? 'must use https, or http on the machine of the user' : undefined)
}

/** Returns the origins of pages among redirect URIs. */
export const originsOf = (uris: readonly string[]): readonly string[] => [
  ...new Set(uris.flatMap((uri) => (/^https?:/u.test(uri) ? [parseUrl(uri)?.origin ?? []].flat() : []))),
]

/** The methods that a client names: one, or a list (OpenID Connect Relying Party Metadata Choices). */
export function namedMethods(metadata: JsonObject): readonly string[] {
  const { token_endpoint_auth_method: method, token_endpoint_auth_methods_supported: methods } = metadata
  return [...(typeof method === 'string' ? [method] : []), ...stringsIn(methods)]
}

/** Returns those of the names that are allowed; all allowed ones if it has none of them. */
export function narrowed(allowed: readonly string[], names: readonly string[]): readonly string[] {
  const both = allowed.filter((name) => names.includes(name))
  return both.length === 0 ? allowed : both
}

/** Returns the scopes that a client can ask for: those that it names, or all. */
export const narrowedScopes = (allowed: readonly string[], { scope }: JsonObject): readonly string[] =>
  narrowed(allowed, typeof scope === 'string' ? scope.split(' ') : [])

/** The functions of a kit that read metadata. */
export type MetadataKit = Pick<Kit, 'clientMetadata' | 'signingAlgorithms'>

/** The settings that a client requests, as members and as metadata, or the reason why they are refused. */
export type Requested =
  | { readonly members: Partial<ClientOptions>; readonly granted: JsonObject }
  | { readonly reason: 'metadata_malformed' | 'demand_unsupported'; readonly text: string }

const valueIn = (metadata: JsonObject, name: string) =>
  Object.hasOwn(metadata, name) ? (metadata[name] ?? undefined) : undefined

/**
 * Returns metadata with one algorithm for identity tokens, if the client names several: the first one of this provider.
 *
 * @see OpenID Connect Relying Party Metadata Choices 1.0 section 2
 */
function withChosenAlgorithm(metadata: JsonObject, { signingAlgorithms }: MetadataKit): JsonObject {
  const supported = stringsIn(valueIn(metadata, 'id_token_signing_alg_values_supported'))
  const chosen = signingAlgorithms.find((name) => supported.includes(name)) ?? supported[0]
  if (chosen === undefined || valueIn(metadata, 'id_token_signed_response_alg') !== undefined) return metadata
  return { ...metadata, id_token_signed_response_alg: chosen }
}

/** Returns why a value of metadata has no member, after its name; `undefined` if it has one. */
function problemOf(name: string, value: Json, methods: readonly string[], kit: MetadataKit): string | undefined {
  const known = kit.clientMetadata.get(name)
  if (known === undefined) return 'is not supported by this server'
  const { method } = metadataName(name) ?? {}
  if (method !== undefined && !methods.includes(method)) return `requires the token_endpoint_auth_method ${method}`
  const { success, issues = [] } = v.safeParse(known.schema, value)
  if (!success) return issues[0]?.message ?? 'is malformed'
  return known.member === 'identityTokenAlgorithm' && !kit.signingAlgorithms.some((algorithm) => algorithm === value)
    ? `must be one of ${kit.signingAlgorithms.join(', ')}`
    : undefined
}

/**
 * Reads the metadata that members of this provider and its plugins represent. Refuses a demand without a member: the
 * client would get less protection than it asks for, and a metadata document has no response that reports this. Leaves
 * out everything else without a member.
 *
 * @param methods the authentication methods that the client can use here
 */
export function requestedMembers(submitted: JsonObject, methods: readonly string[], kit: MetadataKit): Requested {
  const metadata = withChosenAlgorithm(submitted, kit)
  const members: Record<string, Json> = {}
  const granted: Record<string, Json> = {}
  for (const name of new Set([...kit.clientMetadata.keys(), ...Object.keys(metadataNames)])) {
    const value = valueIn(metadata, name)
    if (value === undefined) continue
    const problem = problemOf(name, value, methods, kit)
    const { member } = kit.clientMetadata.get(name) ?? {}
    if (problem === undefined && member !== undefined) {
      members[member] = value
      granted[name] = value
    } else if (metadataName(name)?.isDemand?.(value, methods) === true) {
      const reason = member === undefined ? 'demand_unsupported' : 'metadata_malformed'
      return { reason, text: `${name} ${problem}` }
    }
  }
  // Identity tokens always contain `auth_time`.
  const { require_auth_time: authTime } = metadata
  return {
    members: members as Partial<ClientOptions>,
    granted: { ...granted, ...(authTime === true && { require_auth_time: true }) },
  }
}

/** Returns the members that every self-described client has. Users must always consent to its requests. */
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
