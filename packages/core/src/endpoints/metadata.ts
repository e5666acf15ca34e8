import type { ScopeDirectory } from '../directory/scopes.ts'
import type { ClientAuthentication } from '../parts/client-authentication.ts'
import type { CoreMember } from '../parts/plugin-metadata.ts'
import type { Registry } from '../parts/registry.ts'
import type { Services } from '../services.ts'
import type { JsonObject } from '../types.ts'
import { builtInEndpoints } from './built-in.ts'
import type { BuiltIn } from './core-endpoint.ts'
import type { EndpointPaths } from './paths.ts'
import { tokenEndpoint } from './token.ts'

type Member = Exclude<CoreMember, `${string}_endpoint_auth_methods_supported`>

interface AnnouncedOptions {
  readonly issuer: string
  readonly authorizationEndpoint?: string | undefined
}

function present(
  entries: Readonly<Record<Member, JsonObject[string] | undefined>> & Readonly<Record<string, unknown>>,
): JsonObject {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined)) as JsonObject
}

/**
 * Returns the URLs of the enabled endpoints, by their members of the discovery document.
 *
 * @throws TypeError when a plugin announces an alias of an endpoint that is not among them.
 */
export function endpointUrls(
  { issuer, authorizationEndpoint }: AnnouncedOptions,
  registry: Pick<Registry, 'endpoints' | 'announced'>,
  paths: EndpointPaths,
): ReadonlyMap<string, string> {
  const { origin } = new URL(issuer)
  const urls = new Map(authorizationEndpoint === undefined ? [] : [['authorization_endpoint', authorizationEndpoint]])
  for (const { name, metadataName } of [...builtInEndpoints, ...registry.endpoints.map(({ part }) => part)]) {
    const path = paths.get(name)
    if (path !== undefined && metadataName !== undefined) urls.set(metadataName, origin + path)
  }
  registry.announced.assertAliases([...urls.keys()])
  return urls
}

/** Returns the URL of the token endpoint and its alias, without those that do not exist. */
export function tokenEndpointUrls(
  { announced }: Pick<Registry, 'announced'>,
  urls: ReadonlyMap<string, string>,
): readonly string[] {
  const { metadataName = '' } = tokenEndpoint
  return [urls.get(metadataName), announced.aliasOf(metadataName)].flatMap((url) => url ?? [])
}

/**
 * Builds the discovery document.
 *
 * @see OpenID Connect Discovery 1.0 section 3; RFC 8414 section 2; wire contract, section 9
 */
export function createMetadata(
  {
    clients,
    scopes,
    registry,
    keys,
  }: Pick<Services, 'clients' | 'registry' | 'keys'> & { readonly scopes: ScopeDirectory },
  issuer: string,
  urls: ReadonlyMap<string, string>,
  paths: EndpointPaths,
): JsonObject {
  const grantTypes = [...registry.grants.keys()]
  const responseTypes = [...registry.grants.values()].flatMap(({ stored }) => (stored?.redirect ? [stored.kind] : []))
  const methods = registry.authenticationMethods.map(({ part }) => part)
  const secretMethods = methods.filter(({ verify }) => verify === undefined).map(({ method }) => method)
  // A client store, and a plugin that keeps clients, can contain clients of any kind.
  const hasUnknownClients = clients.all.length === 0 || registry.withClientSources !== undefined
  const isUsed = ({ implicit, accepts }: ClientAuthentication): boolean =>
    !implicit || hasUnknownClients || clients.all.some((client) => accepts?.(client) ?? true)
  const clientMethods = methods.filter(isUsed).map(({ method }) => method)
  const callerMethods = builtInEndpoints.flatMap(({ name, caller, methodsMember }: BuiltIn) =>
    methodsMember !== undefined && paths.has(name)
      ? [[methodsMember, caller === 'scope' ? secretMethods : clientMethods] as const]
      : [],
  )
  const enabledScopes = scopes.all.filter((scope) => scope.enabled)
  const userClaims = enabledScopes.filter((scope) => scope.identity).flatMap((scope) => scope.claims)
  const [algorithm] = keys.algorithms
  const signing = registry.formats.signingMembers((name) => paths.has(name))
  return registry.announced.extend(
    present({
      issuer,
      ...Object.fromEntries(urls),
      ...Object.fromEntries(callerMethods),
      grant_types_supported: grantTypes,
      response_types_supported: responseTypes,
      response_modes_supported: responseTypes.length > 0 ? ['query'] : undefined,
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: keys.algorithms,
      token_endpoint_auth_methods_supported: clientMethods,
      scopes_supported: enabledScopes.map((scope) => scope.name),
      claims_supported: [...new Set(['sub', ...userClaims])],
    }),
    Object.fromEntries(signing.map((member) => [member, [algorithm]])),
  )
}
