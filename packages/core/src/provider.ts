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

/** An OAuth 2.0 / OpenID Connect provider: handlers to mount, and a door for the host's login page. */
export interface Provider {
  readonly issuer: string
  /** One handler per endpoint, usable alone, wherever it is mounted. One that is off answers 404. */
  readonly handlers: Readonly<Record<EndpointName, Handler>>
  /** All of them behind one door; 404 for every other path. */
  readonly fetch: Handler
  /** The handler for this request, if its path is ours. Adapters ask before they pass a request on. */
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
  /** The paths of the endpoints that are on, from the root of the host. */
  readonly paths: Readonly<Partial<Record<EndpointName, string>>>
  /** How often `observe` has thrown or rejected. */
  readonly observerFailures: number
  /**
   * Whether the storage can be read and written, for a readiness probe. Writes only after a write has failed, at most once a second, until a write
   * succeeds again. Never rejects.
   */
  isReady(): Promise<boolean>
  /** Closes the storage. Call it when no request is under way any more. */
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

/** For a request that has the path of an endpoint below another base, such as that of a proxy or of the issuer. Discovery publishes the same. */
function baseHint(path: string, issuer: string, paths: ReadonlyMap<EndpointName, string>): string {
  const base = new URL(issuer).pathname.replace(/\/$/u, '')
  const isElsewhere = [...paths.values()].some((own) => own.startsWith(base) && path.endsWith(own.slice(base.length)))
  return isElsewhere ? `; the endpoints are under ${base === '' ? '/' : base}` : ''
}

/**
 * Makes a provider. It is awaited so that every mistake shows now, not at the first request.
 *
 * @throws TypeError with one sentence: an unknown option, a bad key, two plugins of one name, a grant type that no plugin brings, a
 * storage that is read-only or cannot insert atomically. Error, with its cause, when the storage is out of reach.
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
  // Last of the checks: it opens the storage.
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
