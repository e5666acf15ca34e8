import { type ClientOptions, type JsonObject, parseUrl, redirectUriProblem } from '@grantry/core'
import * as v from 'valibot'
import { clientMembers } from '../shared/client-members.ts'
import type { HostPolicy, Settings } from './options.ts'

/** A reason why a document describes no client, for events and for the developer of the client. */
export interface DocumentProblem {
  readonly reason: string
  readonly text: string
}

type Described = { readonly client: ClientOptions } | DocumentProblem

const problem = (reason: string, text: string): DocumentProblem => ({ reason, text })

const stringsIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []

/** Returns the value if a client of the configuration could have it. A mistake in a text or link refuses no client. */
function usable<M extends 'clientName' | 'clientUri' | 'logoUri' | 'policyUri' | 'tosUri'>(member: M, value: unknown) {
  const parsed = v.safeParse(clientMembers[member], value)
  return parsed.success && parsed.output !== undefined ? { [member]: parsed.output } : {}
}

/** Removes characters that users cannot see, and that could reverse the text around the name. */
const visible = (name: unknown): string | undefined =>
  typeof name === 'string'
    ? name
        .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
        .trim()
        .slice(0, 100) || undefined
    : undefined

const isLoopback = (uri: string): boolean => /^http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)(?:[:/?]|$)/u.test(uri)

/** Whether a client that has described itself can receive codes there. */
function isRedirectUri(uri: string): boolean {
  // Without TLS, the code could be read on the way.
  return redirectUriProblem(uri) === undefined && (!/^http:/iu.test(uri) || isLoopback(uri))
}

const originsOf = (uris: readonly string[]): readonly string[] => [
  ...new Set(uris.flatMap((uri) => (/^https?:/u.test(uri) ? [parseUrl(uri)?.origin ?? []].flat() : []))),
]

/** The methods that a client names: one, or a list (OpenID Connect Relying Party Metadata Choices). */
function methodsOf(document: JsonObject): readonly string[] {
  const { token_endpoint_auth_method: one, token_endpoint_auth_methods_supported: several } = document
  const named = [...(typeof one === 'string' ? [one] : []), ...stringsIn(several)]
  if (named.length > 0) return named
  return document.jwks === undefined && document.jwks_uri === undefined ? ['none'] : ['private_key_jwt']
}

/** Returns how the client authenticates: with a key, as a public client, or as either. */
function authenticationOf(document: JsonObject): Partial<ClientOptions> | DocumentProblem {
  const methods = methodsOf(document)
  const { jwks, jwks_uri: jwksUri } = document
  const keys = jwks === undefined ? jwksUri !== undefined && { jwksUri } : { jwks }
  const canSign = methods.includes('private_key_jwt') && keys !== false
  if (methods.includes('none')) return { public: true, ...(canSign && keys) } as Partial<ClientOptions>
  if (canSign) return { tokenEndpointAuthMethod: 'private_key_jwt', ...keys } as Partial<ClientOptions>
  return methods.includes('private_key_jwt')
    ? problem('keys_missing', 'private_key_jwt requires jwks or jwks_uri')
    : problem('method_refused', 'token_endpoint_auth_method must be none or private_key_jwt')
}

/** Returns those of the names that are allowed; all allowed ones if the document has none of them. */
function narrowed(allowed: readonly string[], names: readonly string[]): readonly string[] {
  const both = allowed.filter((name) => names.includes(name))
  return both.length === 0 ? allowed : both
}

/**
 * Returns the client that a document describes. What the provider does not support is left out: one document serves many
 * providers. What would make the client another one is refused.
 *
 * @param url the id of the client: the URL of the document
 * @see draft-ietf-oauth-client-id-metadata-document sections 4 and 6
 */
export function clientIn(
  document: JsonObject,
  url: string,
  policy: Exclude<HostPolicy, 'refuse'>,
  { scopes, grantTypes }: Pick<Settings, 'scopes' | 'grantTypes'>,
): Described {
  if (document.client_id !== url) return problem('client_id_differs', 'client_id must equal the URL of the document')
  if (document.client_secret !== undefined || document.client_secret_expires_at !== undefined) {
    return problem('secret_published', 'a published document must not contain a secret')
  }
  const redirectUris = stringsIn(document.redirect_uris).filter(isRedirectUri)
  if (redirectUris.length === 0)
    return problem('redirect_uris_missing', 'redirect_uris contains no URI that can be used')
  const authentication = authenticationOf(document)
  if ('reason' in authentication) return authentication
  const named = stringsIn(document.grant_types ?? ['authorization_code'])
  const scopeNames = typeof document.scope === 'string' ? document.scope.split(' ') : []
  return {
    client: {
      clientId: url,
      ...authentication,
      grantTypes: grantTypes.filter((grantType) => named.includes(grantType)),
      scopes: [...narrowed(scopes, scopeNames)],
      redirectUris: [...redirectUris],
      postLogoutRedirectUris: stringsIn(document.post_logout_redirect_uris).filter(isRedirectUri),
      allowedCorsOrigins: [...originsOf(redirectUris)],
      ...usable('clientName', visible(document.client_name)),
      ...usable('clientUri', document.client_uri),
      ...usable('logoUri', document.logo_uri),
      ...usable('policyUri', document.policy_uri),
      ...usable('tosUri', document.tos_uri),
      requireConsent: true,
      selfDescribed: policy,
    },
  }
}
