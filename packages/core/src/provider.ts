import { parseConfiguration } from './configuration.ts'
import { type AuthenticateUser, createAuthenticateUser } from './credentials/login.ts'
import { accessTokenValidationEndpoint } from './endpoints/access-token-validation.ts'
import { metadataEndpoint, metadataOf } from './endpoints/discovery.ts'
import { type Endpoint, type EndpointName, endpointNames } from './endpoints/endpoint.ts'
import { identityTokenValidationEndpoint } from './endpoints/identity-token-validation.ts'
import { introspectionEndpoint } from './endpoints/introspection.ts'
import { jwksEndpoint } from './endpoints/jwks.ts'
import { limitedEndpoint } from './endpoints/limited-endpoint.ts'
import { revocationEndpoint } from './endpoints/revocation.ts'
import { tokenEndpoint } from './endpoints/token.ts'
import { userinfoEndpoint } from './endpoints/userinfo.ts'
import type { JsonObject } from './json.ts'
import type { ProviderKeys } from './keys/key-ring.ts'
import { type CheckedOptions, type ProviderOptions, pathOfEndpoint, providerOptionsSchema } from './options.ts'
import { createHandler, createNotFound, type Handler, pathOf } from './router.ts'
import { completeRuntime } from './runtime.ts'
import { recordWarnings } from './startup-checks.ts'
import {
  type CheckAuthorizationRequest,
  type CreateAuthorizationCode,
  createAuthorizationCodes,
} from './tokens/authorization-code.ts'
import { createInspect, type Inspect } from './tokens/inspect.ts'
import { createRevoke, type Revoke } from './tokens/revoke.ts'
import { type Parts, wire } from './wiring.ts'

/** An OAuth 2.0 / OpenID Connect provider: request handlers to mount, and functions for your login page. */
export interface Provider {
  readonly issuer: string
  /** One handler per endpoint. Each works alone, at any path. A disabled endpoint responds with 404. */
  readonly handlers: Readonly<Record<EndpointName, Handler>>
  /** Routes a request to its endpoint by path; responds with 404 for every other path. */
  readonly fetch: Handler
  /**
   * Returns the handler for the path of this request, if it is an endpoint. Adapters use it to decide whether to pass
   * the request on.
   */
  route(request: Request): Handler | undefined
  readonly authenticateUser: AuthenticateUser
  readonly checkAuthorizationRequest: CheckAuthorizationRequest
  readonly createAuthorizationCode: CreateAuthorizationCode
  readonly revoke: Revoke
  readonly inspect: Inspect
  /** The discovery document. */
  readonly metadata: JsonObject
  readonly grantTypes: readonly string[]
  readonly keys: ProviderKeys
  /** The absolute paths of the enabled endpoints. */
  readonly paths: Readonly<Partial<Record<EndpointName, string>>>
  /** The number of times that `observe` has thrown or rejected. */
  readonly observerFailures: number
  /**
   * Checks whether the storage can be read and written; use it in a readiness probe. It writes only after a write has
   * failed, at most once a second, until a write succeeds. Never rejects.
   */
  isReady(): Promise<boolean>
  /** Closes the storage. Call it when no request is in flight. */
  close(): Promise<void>
}

function metadataFor(parts: Parts, options: CheckedOptions, paths: ReadonlyMap<EndpointName, string>): JsonObject {
  const { origin } = new URL(options.issuer)
  const enabled = parts.scopes.all.filter((scope) => scope.enabled)
  return metadataOf({
    issuer: options.issuer,
    urls: Object.fromEntries([...paths].map(([name, path]) => [name, origin + path])),
    authorizationEndpoint: options.authorizationEndpoint,
    grantTypes: [...parts.registry.grants.keys()],
    publicClients: parts.clients.all.length === 0 || parts.clients.all.some((client) => client.public),
    scopes: enabled.map((scope) => scope.name),
    claims: [...new Set(['sub', ...enabled.filter((scope) => scope.identity).flatMap((scope) => scope.claims)])],
    signingAlgorithms: parts.keys.algorithms,
    pluginMetadata: parts.registry.metadata,
  })
}

function endpointsOf(parts: Parts, metadata: JsonObject): readonly Endpoint[] {
  return [
    tokenEndpoint(parts),
    limitedEndpoint(identityTokenValidationEndpoint(parts), parts.limits.validation),
    limitedEndpoint(userinfoEndpoint(parts), parts.limits.validation),
    limitedEndpoint(accessTokenValidationEndpoint(parts), parts.limits.validation),
    introspectionEndpoint(parts),
    revocationEndpoint(parts),
    metadataEndpoint('discovery', metadata),
    metadataEndpoint('authorizationServerMetadata', metadata),
    jwksEndpoint(parts),
  ]
}

/**
 * A hint for a request to an endpoint's path under the wrong base path. It reveals nothing that discovery does not
 * publish.
 */
function baseHint(path: string, issuer: string, paths: ReadonlyMap<EndpointName, string>): string {
  const base = new URL(issuer).pathname.replace(/\/$/u, '')
  const isElsewhere = [...paths.values()].some((own) => own.startsWith(base) && path.endsWith(own.slice(base.length)))
  return isElsewhere ? `; the endpoints are under ${base === '' ? '/' : base}` : ''
}

/**
 * Creates a provider. It validates the options, imports the keys and probes the storage, so mistakes surface at startup
 * and not at the first request.
 *
 * @throws TypeError with one sentence for a mistake in the options: an unknown option, an invalid key, two plugins with
 * the same name, a grant type without a plugin, a storage that is read-only or has no atomic insert.
 * @throws Error with a cause when the storage cannot be reached.
 * @example
 * const provider = await createProvider({
 *   issuer: 'https://id.example.com',
 *   keys: signingKeys(),
 *   storage: memoryDriver(),
 *   clients: [{ clientId: 'web', secrets: [{ sha256: '...' }], grantTypes: ['client_credentials'], scopes: ['api1'] }],
 *   scopes: [{ name: 'api1' }],
 *   plugins: [clientCredentials()],
 * })
 */
export async function createProvider(input: ProviderOptions): Promise<Provider> {
  const options = parseConfiguration(providerOptionsSchema, input, 'createProvider()')
  const runtime = completeRuntime(options.runtime)
  const paths = new Map<EndpointName, string>()
  for (const name of endpointNames) {
    const path = pathOfEndpoint(name, options)
    if (path === undefined) continue
    const twin = [...paths].find(([, taken]) => taken === path)
    if (twin !== undefined) throw new TypeError(`endpoints: ${twin[0]} and ${name} have the same path ${path}`)
    paths.set(name, path)
  }
  // After the other checks: it opens the storage.
  const parts = await wire(options, runtime)
  const metadata = metadataFor(parts, options, paths)
  const { issuer: realm, traceHeaders } = options
  const routerDeps = { clients: parts.clients, realm, recorder: parts.recorder, runtime, traceHeaders }
  const absent = createNotFound(routerDeps, (path) => baseHint(path, realm, paths))
  const handlers = {} as Record<EndpointName, Handler>
  const byPath = new Map<string, Handler>()
  for (const endpoint of endpointsOf(parts, metadata)) {
    const path = paths.get(endpoint.name)
    const handler = path === undefined ? absent : createHandler(endpoint, routerDeps)
    handlers[endpoint.name] = handler
    if (path !== undefined) byPath.set(path, handler)
  }
  const route = (request: Request): Handler | undefined => byPath.get(pathOf(request.url))
  recordWarnings(parts, paths.has('accessTokenValidation'))

  const codes = createAuthorizationCodes(parts)

  return Object.freeze({
    issuer: options.issuer,
    handlers: Object.freeze(handlers),
    fetch: (request, connection) => (route(request) ?? absent)(request, connection),
    route,
    authenticateUser: createAuthenticateUser(parts),
    checkAuthorizationRequest: codes.check,
    createAuthorizationCode: codes.create,
    revoke: createRevoke(parts),
    inspect: createInspect(parts),
    metadata,
    grantTypes: [...parts.registry.grants.keys()],
    keys: parts.keys.operator,
    paths: Object.freeze(Object.fromEntries(paths)),
    get observerFailures() {
      return parts.recorder.observerFailures
    },
    async close() {
      await parts.keys.settled()
      await options.storage.dispose?.()
    },
    isReady: parts.store.isReady,
  } satisfies Provider)
}
