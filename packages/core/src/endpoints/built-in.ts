import { accessTokenValidationEndpoint } from './access-token-validation.ts'
import { authorizationServerMetadataEndpoint, discoveryEndpoint } from './discovery.ts'
import { identityTokenValidationEndpoint } from './identity-token-validation.ts'
import { introspectionEndpoint } from './introspection.ts'
import { jwksEndpoint } from './jwks.ts'
import { revocationEndpoint } from './revocation.ts'
import { tokenEndpoint } from './token.ts'
import { userinfoEndpoint } from './userinfo.ts'

export const builtInEndpoints = [
  tokenEndpoint,
  identityTokenValidationEndpoint,
  userinfoEndpoint,
  accessTokenValidationEndpoint,
  introspectionEndpoint,
  revocationEndpoint,
  discoveryEndpoint,
  authorizationServerMetadataEndpoint,
  jwksEndpoint,
] as const

/** The name of an endpoint of the core, as in the option `endpoints` and in `provider.handlers`. */
export type EndpointName = (typeof builtInEndpoints)[number]['name']

/** The names of the endpoints of the core. */
export const endpointNames: readonly EndpointName[] = builtInEndpoints.map(({ name }) => name)

/** The default path of each endpoint of the core, relative to the issuer. The option `endpoints` overrides it. */
export const defaultPaths = Object.fromEntries(builtInEndpoints.map(({ name, path }) => [name, path])) as Readonly<
  Record<EndpointName, `/${string}`>
>
