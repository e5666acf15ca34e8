import { type Handler, type Provider, pathOf } from '@grantry/core'
import { observedRoute } from '../observability/observed-route.ts'
import type { ServerEndpoint, ServerObserver } from '../observability/server-event.ts'

const status = (text: string, code: number): Response =>
  Response.json({ status: text }, { status: code, headers: { 'cache-control': 'no-store' } })

/**
 * Returns the handler for each request that no endpoint of the provider handles, including unknown paths.
 *
 * @throws TypeError when an endpoint of the provider has the path of a route: it would hide the route.
 */
export function serverRoutes(parts: {
  readonly provider: Provider
  readonly observe: ServerObserver
  /** Serves `/metrics`; `undefined` if metrics are off or have their own port. */
  readonly metrics: Handler | undefined
  /** The paths below `/console`; `undefined` if the console is off. */
  readonly console: ReadonlyMap<string, Handler> | undefined
  /** The application of the demo; `undefined` for a real configuration. */
  readonly demo: ReadonlyMap<string, Handler> | undefined
  /** The page at the URL of the issuer; `undefined` if it is off. The demo has its own. */
  readonly home?: ReadonlyMap<string, Handler> | undefined
  /** The page with the mails of a development server. */
  readonly outbox?: ReadonlyMap<string, Handler> | undefined
  readonly isStopping: () => boolean
}): (request: Request) => Handler {
  const { provider, observe, metrics, console: page, demo, home, outbox, isStopping } = parts
  const live: Handler = async () => status('live', 200)
  const ready: Handler = async () => {
    if (isStopping()) return status('stopping', 503)
    return (await provider.isReady()) ? status('ready', 200) : status('storage unavailable', 503)
  }
  const routes = new Map<string, Handler>()
  const add = (endpoint: ServerEndpoint, path: string, handler: Handler): void => {
    routes.set(path, observedRoute(endpoint, path, handler, observe))
  }
  add('health', '/health/live', live)
  add('health', '/health/ready', ready)
  if (metrics !== undefined) routes.set('/metrics', metrics)
  for (const [path, handler] of home ?? []) add('home', path, handler)
  for (const [path, handler] of demo ?? []) add('demo', path, handler)
  for (const [path, handler] of outbox ?? []) add('outbox', path, handler)
  for (const [path, handler] of page ?? []) add('console', path, handler)
  for (const path of routes.keys()) {
    const hiding = provider.route(new Request(new URL(path, provider.issuer)))
    if (hiding === undefined) continue
    const name = Object.keys(provider.handlers).find((endpoint) => provider.handlers[endpoint] === hiding)
    const at = provider.paths[name ?? ''] === path ? `the path ${path}` : `paths such as ${path}`
    throw new TypeError(`endpoints: ${name} has ${at}, which the server uses itself`)
  }
  // The provider refuses every other path, and records it.
  return (request) => routes.get(pathOf(request.url)) ?? provider.fetch
}
