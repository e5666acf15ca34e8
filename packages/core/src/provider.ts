import { parseConfiguration } from './config-schema.ts'
import { openRules } from './core-rules.ts'
import { createServices } from './create-services.ts'
import { builtInEndpoints, type EndpointName } from './endpoints/built-in.ts'
import { type CoreEndpoint, errorRecipientOf, fromPlugin } from './endpoints/core-endpoint.ts'
import { basePathHint, core } from './endpoints/paths.ts'
import { createPipeline } from './endpoints/pipeline.ts'
import { createPresentError } from './endpoints/present-error.ts'
import type { Handler } from './http/connection.ts'
import type { ProviderKeys } from './keys/key-ring.ts'
import { type ProviderOptions, providerOptionsSchema } from './options.ts'
import { pathOf } from './parse-url.ts'
import type { AuthenticateUser } from './parts/authenticate-user.ts'
import type { UsePlugins } from './parts/host-functions.ts'
import type { Authorize, OpenAuthorization } from './parts/proposal.ts'
import type { RuleFinding } from './parts/rule.ts'
import { createHandler, createNotFound, createUnavailable, type Route } from './router.ts'
import { completeRuntime } from './runtime.ts'
import type { Services } from './services.ts'
import type { Inspect } from './tokens/inspect.ts'
import type { Revoke } from './tokens/revoke.ts'
import type { JsonObject, Optional } from './types.ts'

/** An OAuth 2.0 / OpenID Connect provider: request handlers to mount, and functions for your login page. */
export interface Provider extends UsePlugins {
  readonly issuer: string
  /**
   * One handler per endpoint, also of plugins. Each works alone, at any path. A disabled endpoint responds with 404.
   */
  readonly handlers: Readonly<Record<EndpointName, Handler> & Record<string, Handler | undefined>>
  /** Routes a request to its endpoint by path; responds with 404 for every other path. */
  readonly fetch: Handler
  /** Responds as for a path without an endpoint: 404, with a page for browsers if there is an authorization endpoint. */
  readonly notFound: Handler
  /** Responds with 503 for a tenant that cannot be opened at present, with a page for browsers as `notFound` has. */
  readonly unavailable: Handler
  /**
   * Returns the handler for the path of this request, if it is an endpoint. Adapters use it to decide whether to pass
   * the request on.
   */
  route(request: Request): Handler | undefined
  readonly authenticateUser: AuthenticateUser
  /** Checks an authorization request, before there is a user; as in kits. */
  readonly openAuthorization: OpenAuthorization
  /** Stores what a user has authorized of a proposal, under a single-use credential such as a code; as in kits. */
  readonly authorize: Authorize
  readonly revoke: Revoke
  /**
   * Makes all servers with the same storage read a client again before they issue tokens or codes to it: call it after a change
   * that takes a secret or a right away. What was issued before stays; `revoke({ clientId })` ends that, too.
   *
   * @throws OAuthError `temporarily_unavailable` when the storage fails; try again.
   */
  renewClient(clientId: string): Promise<void>
  readonly inspect: Inspect
  /**
   * Checks a client without adding it: with all plugins, scopes and keys of this provider.
   *
   * @throws TypeError when `createProvider()` would refuse it as the first of `clients`. The message starts with
   * `clients[0]` or `clients`; `configurationProblems()` returns all mistakes.
   * @param moreScopes names of scopes that this provider does not know yet
   */
  readonly checkClient: Services['checkClient']
  /** Checks a scope without adding it, as `checkClient` does. */
  readonly checkScope: Services['checkScope']
  /** Returns what the rules of the core and of plugins find in the options, for `grantry check` or a test of the host. */
  readonly findings: () => readonly RuleFinding[]
  /** The present discovery document. */
  readonly metadata: JsonObject
  readonly grantTypes: readonly string[]
  readonly keys: ProviderKeys
  /** The absolute paths of the enabled endpoints. */
  readonly paths: Optional<Record<EndpointName, string>> & Readonly<Record<string, string | undefined>>
  /** The methods of the enabled endpoints, by name. */
  readonly methods: Readonly<Record<string, readonly string[] | undefined>>
  /** The number of times that `observe` has thrown or rejected. */
  readonly observerFailures: number
  /**
   * Checks whether the storage can be read and written; use it in a readiness probe. It writes only after a write has
   * failed, at most once a second, until a write succeeds. Never rejects.
   */
  isReady(): Promise<boolean>
  /**
   * Runs the tasks of plugins, such as retries, reads the scopes that plugins keep, and waits for a rotation of keys that is in
   * progress. Call it at start and every few seconds; in a Worker, from a scheduled event. A call during a run waits for that
   * run. Never rejects: a failure is an event.
   */
  runTasks(): Promise<void>
  /** Closes the storage. Call it when no request is in flight. */
  close(): Promise<void>
}

interface InstalledRoute extends Route {
  readonly subpaths: boolean
}

/** Returns the function that shows browsers a page for a path without an endpoint. */
const presentUnknownOf = ({ registry: { errorPage }, endpointKitOf, ...services }: Services) =>
  errorPage && createPresentError(errorPage, endpointKitOf(errorPage.plugin), services)

/** Returns the endpoints of the core and of the plugins, ready to be routed. */
function routesOf(services: Services): readonly InstalledRoute[] {
  const routeOf = (plugin: string, endpoint: CoreEndpoint): InstalledRoute => ({
    presentError: createPresentError(endpoint, services.endpointKitOf(plugin), services),
    name: endpoint.name,
    methods: endpoint.methods,
    recipient: errorRecipientOf(endpoint),
    cors: endpoint.cors ?? 'none',
    toProblem: endpoint.toProblem,
    subpaths: endpoint.subpaths === true,
    handle: createPipeline(endpoint, services.endpointKitOf(plugin), services),
  })
  return [
    ...builtInEndpoints.map((endpoint) => routeOf(core, endpoint.open(services))),
    ...services.registry.endpoints.map((endpoint) => routeOf(endpoint.plugin, fromPlugin(endpoint))),
  ]
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
  const services = await createServices(options, runtime)
  const tasks = services.registry.createTasks(services.endpointKitOf, services.recorder)
  const { refresh } = services.scopes
  const reading = refresh && services.registry.scopeSources?.createReading(refresh, services.recorder)
  const { metadata, paths } = services
  const { issuer: realm, traceHeaders } = options
  const { clients, recorder, errors } = services
  const presentUnknown = presentUnknownOf(services)
  const routerDeps = { clients, errors, recorder, runtime, traceHeaders, presentUnknown }
  const notFound = createNotFound(routerDeps, (path) => basePathHint(path, realm, paths))
  const handlers = {} as Record<EndpointName, Handler> & Record<string, Handler>
  const byPath = new Map<string, Handler>()
  /** Handlers of all paths that start with a text. Asked only for what is in no other place. */
  const below: [start: string, handler: Handler][] = []
  const methods: Record<string, readonly string[]> = {}
  for (const endpoint of routesOf(services)) {
    const path = paths.get(endpoint.name)
    const handler = path === undefined ? notFound : createHandler(endpoint, routerDeps)
    handlers[endpoint.name] = handler
    if (path === undefined) continue
    byPath.set(path, handler)
    if (endpoint.subpaths) below.push([`${path}/`, handler])
    methods[endpoint.name] = Object.freeze([...endpoint.methods])
  }
  const route = (request: Request): Handler | undefined => {
    const path = pathOf(request.url)
    return byPath.get(path) ?? below.find(([start]) => path.startsWith(start))?.[1]
  }
  const findings = openRules(services, realm)

  return Object.freeze({
    issuer: options.issuer,
    handlers: Object.freeze(handlers),
    fetch: (request, connection) => (route(request) ?? notFound)(request, connection),
    notFound,
    unavailable: createUnavailable(routerDeps),
    route,
    authenticateUser: services.authenticateUser,
    openAuthorization: services.authorizations.openAuthorization,
    authorize: services.authorizations.authorize,
    ...services.registry.createUsePlugins(services.endpointKitOf),
    revoke: services.revoke,
    renewClient: services.renewClient,
    inspect: services.inspect,
    checkClient: services.checkClient,
    checkScope: services.checkScope,
    findings,
    get metadata() {
      return metadata()
    },
    grantTypes: [...services.registry.grants.keys()],
    keys: services.keys.operator,
    paths: Object.freeze(Object.fromEntries(paths)),
    methods: Object.freeze(methods),
    get observerFailures() {
      return services.recorder.observerFailures
    },
    async close() {
      await Promise.all([services.keys.settled(), tasks.settled(), reading?.settled()])
      await options.storage.dispose?.()
    },
    isReady: services.store.isReady,
    async runTasks() {
      await Promise.all([services.keys.settled(), reading?.run(), tasks.run()])
    },
  } satisfies Provider)
}
