import type { ClientOptions, JsonObject } from '@grantry/core'
import {
  type MetadataKit,
  namedMethods,
  narrowedScopes,
  ownRedirectProblem,
  requestedMembers,
  selfDescribedMembers,
  stringsIn,
} from '../shared/self-described.ts'
import type { HostPolicy, Settings } from './client-metadata-options.ts'

/** A reason why a document describes no client, for events and for the developer of the client. */
export interface DocumentProblem {
  readonly reason: string
  readonly text: string
  /** Whether the problem may be temporary: the response shows nothing about the client. */
  readonly isTemporary?: boolean | undefined
}

type Described = { readonly client: ClientOptions } | DocumentProblem

const problem = (reason: string, text: string): DocumentProblem => ({ reason, text })

const isRedirectUri = (uri: string): boolean => ownRedirectProblem(uri) === undefined

function methodsOf(document: JsonObject): readonly string[] {
  const named = namedMethods(document)
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

/**
 * Returns the client that a document describes. Leaves out members that the provider does not support, because one
 * document serves many providers. Refuses a member that would change the identity or the protection of the client if it
 * were left out.
 *
 * @param url the id of the client: the URL of the document
 * @see draft-ietf-oauth-client-id-metadata-document sections 4 and 6
 */
export function clientIn(
  document: JsonObject,
  url: string,
  policy: Exclude<HostPolicy, 'refuse'>,
  { scopes, grantTypes, refreshToken }: Pick<Settings, 'scopes' | 'grantTypes' | 'refreshToken'>,
  kit: MetadataKit,
): Described {
  // Gateways send errors as JSON, too: a document without the id of the client is none of this client.
  if (document.client_id !== url) {
    return { ...problem('client_id_differs', 'client_id must equal the URL of the document'), isTemporary: true }
  }
  if (document.client_secret !== undefined || document.client_secret_expires_at !== undefined) {
    return problem('secret_published', 'a published document must not contain a secret')
  }
  const redirectUris = stringsIn(document.redirect_uris).filter(isRedirectUri)
  if (redirectUris.length === 0)
    return problem('redirect_uris_missing', 'redirect_uris contains no URI that can be used')
  const authentication = authenticationOf(document)
  if ('reason' in authentication) return authentication
  const usable = methodsOf(document).filter((name) => name === 'none' || name === 'private_key_jwt')
  const requested = requestedMembers(document, usable, kit)
  if ('reason' in requested) return requested
  const named = stringsIn(document.grant_types ?? ['authorization_code'])
  return {
    client: {
      ...requested.members,
      clientId: url,
      ...authentication,
      grantTypes: grantTypes.filter((grantType) => named.includes(grantType)),
      scopes: [...narrowedScopes(scopes, document)],
      postLogoutRedirectUris: stringsIn(document.post_logout_redirect_uris).filter(isRedirectUri),
      ...selfDescribedMembers(document, redirectUris, { refreshToken, selfDescribed: policy }),
    },
  }
}
