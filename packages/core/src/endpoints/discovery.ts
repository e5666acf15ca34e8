import { documentAnswer } from '../http/answer.ts'
import type { JsonObject } from '../json.ts'
import { type CoreMember, withPluginMetadata } from '../plugin/metadata.ts'
import type { Endpoint, EndpointName } from './endpoint.ts'

/** The input of the metadata: only what is registered and enabled. */
export interface MetadataSource {
  readonly issuer: string
  /** URLs of the enabled endpoints. */
  readonly urls: Readonly<Partial<Record<EndpointName, string>>>
  /** The URL of the login page. */
  readonly authorizationEndpoint: string | undefined
  readonly grantTypes: readonly string[]
  readonly publicClients: boolean
  readonly scopes: readonly string[]
  readonly claims: readonly string[]
  readonly signingAlgorithms: readonly string[]
  readonly pluginMetadata: JsonObject
}

/** The authentication methods of confidential clients and of scopes. */
const secretMethods = ['client_secret_basic', 'client_secret_post'] as const

function present(entries: Readonly<Record<CoreMember, JsonObject[string] | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined)) as JsonObject
}

/**
 * Builds the discovery document.
 *
 * @see OpenID Connect Discovery 1.0 section 3; RFC 8414 section 2; wire contract, section 9
 */
export function metadataOf(source: MetadataSource): JsonObject {
  const { urls, grantTypes } = source
  const clientMethods = source.publicClients ? [...secretMethods, 'none'] : secretMethods
  const hasCodes = grantTypes.includes('authorization_code')
  return withPluginMetadata(
    present({
      issuer: source.issuer,
      authorization_endpoint: source.authorizationEndpoint,
      token_endpoint: urls.token,
      userinfo_endpoint: urls.userinfo,
      jwks_uri: urls.jwks,
      introspection_endpoint: urls.introspection,
      introspection_endpoint_auth_methods_supported: urls.introspection && secretMethods,
      revocation_endpoint: urls.revocation,
      revocation_endpoint_auth_methods_supported: urls.revocation && clientMethods,
      // Not registered with IANA: the two validation endpoints of the seed.
      identity_token_validation_endpoint: urls.identityTokenValidation,
      access_token_validation_endpoint: urls.accessTokenValidation,
      grant_types_supported: grantTypes,
      response_types_supported: hasCodes ? ['code'] : [],
      response_modes_supported: hasCodes ? ['query'] : undefined,
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: source.signingAlgorithms,
      token_endpoint_auth_methods_supported: clientMethods,
      scopes_supported: source.scopes,
      claims_supported: source.claims,
    }),
    source.pluginMetadata,
  )
}

/** Serves the same document at the paths of OpenID Connect Discovery and of RFC 8414. */
export function metadataEndpoint(name: 'discovery' | 'authorizationServerMetadata', metadata: JsonObject): Endpoint {
  const answer = documentAnswer(metadata)
  return {
    name,
    methods: ['GET'],
    presents: 'validation',
    cors: 'public',
    handle: async () => answer,
  }
}
