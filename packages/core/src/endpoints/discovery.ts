import { cacheableResponse } from '../http/plain-response.ts'
import type { ClientAuthentication } from '../plugin/client-authentication.ts'
import { type CoreMember, withPluginMetadata } from '../registry/metadata.ts'
import type { Services } from '../services.ts'
import type { JsonObject } from '../types.ts'
import type { Endpoint, EndpointName } from './endpoint.ts'
import type { EndpointPaths } from './paths.ts'

function present(entries: Readonly<Record<CoreMember, JsonObject[string] | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined)) as JsonObject
}

/**
 * Builds the discovery document.
 *
 * @see OpenID Connect Discovery 1.0 section 3; RFC 8414 section 2; wire contract, section 9
 */
export function createMetadata(
  { clients, scopes, registry, keys }: Services,
  { issuer, authorizationEndpoint }: { readonly issuer: string; readonly authorizationEndpoint?: string | undefined },
  paths: EndpointPaths,
): JsonObject {
  const { origin } = new URL(issuer)
  const urlOf = (name: EndpointName): string | undefined => {
    const path = paths.get(name)
    return path === undefined ? undefined : origin + path
  }
  const grantTypes = [...registry.grants.keys()]
  const responseTypes = [...registry.grants.values()].flatMap(({ stored }) => (stored?.redirect ? [stored.kind] : []))
  const methods = registry.authenticationMethods.map(({ part }) => part)
  const secretMethods = methods.filter(({ verify }) => verify === undefined).map(({ method }) => method)
  // A client store can contain clients of any kind.
  const isUsed = ({ implicit, accepts }: ClientAuthentication): boolean =>
    !implicit || clients.all.length === 0 || clients.all.some((client) => accepts?.(client) ?? true)
  const clientMethods = methods.filter(isUsed).map(({ method }) => method)
  const enabledScopes = scopes.all.filter((scope) => scope.enabled)
  const userClaims = enabledScopes.filter((scope) => scope.identity).flatMap((scope) => scope.claims)
  return withPluginMetadata(
    present({
      issuer,
      authorization_endpoint: authorizationEndpoint,
      token_endpoint: urlOf('token'),
      userinfo_endpoint: urlOf('userinfo'),
      jwks_uri: urlOf('jwks'),
      introspection_endpoint: urlOf('introspection'),
      introspection_endpoint_auth_methods_supported: urlOf('introspection') && secretMethods,
      revocation_endpoint: urlOf('revocation'),
      revocation_endpoint_auth_methods_supported: urlOf('revocation') && clientMethods,
      // Not registered with IANA: the two validation endpoints of the seed.
      identity_token_validation_endpoint: urlOf('identityTokenValidation'),
      access_token_validation_endpoint: urlOf('accessTokenValidation'),
      grant_types_supported: grantTypes,
      response_types_supported: responseTypes,
      response_modes_supported: responseTypes.length > 0 ? ['query'] : undefined,
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: keys.algorithms,
      token_endpoint_auth_methods_supported: clientMethods,
      scopes_supported: enabledScopes.map((scope) => scope.name),
      claims_supported: [...new Set(['sub', ...userClaims])],
    }),
    registry.metadata,
  )
}

/** Serves the same document at the paths of OpenID Connect Discovery and of RFC 8414. */
export function metadataEndpoint(name: 'discovery' | 'authorizationServerMetadata', metadata: JsonObject): Endpoint {
  const response = cacheableResponse(metadata)
  return {
    name,
    methods: ['GET'],
    caller: 'validation',
    cors: 'public',
    handle: async () => response,
  }
}
