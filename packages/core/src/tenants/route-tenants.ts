import type { Handler } from '../http/connection.ts'
import { jsonHeaders } from '../http/plain-response.ts'
import { type Runtime, webRuntime } from '../runtime.ts'
import type { TenantServing } from './lease.ts'
import { openTenants } from './open-tenants.ts'
import type { OpenTenant, TenantEvent, TenantLimits, TenantSource } from './tenant.ts'
import type { TenantOf } from './tenant-of.ts'

export interface RouteTenantsOptions<O, S extends TenantServing> extends TenantLimits {
  /** How a request names its tenant: `tenantsByPath()`, `tenantsByHost()`, or another function. */
  readonly tenantOf: TenantOf
  readonly source: TenantSource<O>
  readonly open: OpenTenant<O, S>
  /** Handles requests that name no tenant. Default: 404. */
  readonly otherwise?: Handler | undefined
  /** Handles requests that name a tenant that does not exist. Default: 404 as JSON. */
  readonly notFound?: Handler | undefined
  /** Handles requests to a tenant that cannot be opened. Default: 503 as JSON. */
  readonly unavailable?: Handler | undefined
  readonly observe?: ((event: TenantEvent) => void) | undefined
  readonly runtime?: Pick<Runtime, 'elapsed'> | undefined
}

/** Serves the requests of several tenants. */
export interface RoutedTenants<S extends TenantServing> {
  /** Never rejects: without a tenant the response is that of `notFound`, and that of `unavailable` if it cannot be opened. */
  readonly fetch: Handler
  /** The number of tenants that are open. */
  readonly size: number
  /**
   * Calls a function with what serves a tenant, which stays open meanwhile. Returns `undefined` if there is no such tenant.
   *
   * @throws whatever the function throws, or the cause why the tenant cannot be opened
   */
  use<T>(key: string, call: (serving: S) => Promise<T>): Promise<T | undefined>
  /** Runs the tasks of the plugins of open tenants, and closes tenants that are not used. Call it every few seconds. Never rejects. */
  runTasks(): Promise<void>
  /** Closes all tenants when their requests have ended, after a minute at the latest. The storage stays open. */
  close(): Promise<void>
}

const refusal = (status: number, body: object, headers: object = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { ...jsonHeaders, ...headers } })

// As for a path without an endpoint.
const refuseUnknown: Handler = async () =>
  refusal(404, { error: 'invalid_request', error_description: 'There is no such endpoint' })

const refuseUnavailable: Handler = async () =>
  refusal(
    503,
    { error: 'temporarily_unavailable', error_description: 'The service is temporarily unavailable' },
    { 'retry-after': '1' },
  )

/** Opens tenants on their first request, and hands each request to its tenant. */
export function routeTenants<O, S extends TenantServing>(options: RouteTenantsOptions<O, S>): RoutedTenants<S> {
  const {
    tenantOf,
    source,
    open,
    notFound = refuseUnknown,
    unavailable = refuseUnavailable,
    otherwise = notFound,
    observe,
    runtime = webRuntime,
  } = options
  const tenants = openTenants({
    source,
    open,
    limits: options,
    runtime,
    observe(event) {
      try {
        observe?.(event)
      } catch {
        // A response must not depend on the observer.
      }
    },
  })

  async function handle(key: string, ...request: Parameters<Handler>): Promise<Response> {
    const slot = await tenants.acquire(key)
    if (slot === undefined) return notFound(...request)
    try {
      const response = await slot.serving.handle(...request)
      // A slow request must not return tokens of a tenant that has ended meanwhile.
      return (await tenants.hasNotEnded(slot)) ? response : notFound(...request)
    } finally {
      slot.release()
    }
  }

  return {
    get size() {
      return tenants.size
    },
    async fetch(request, connection) {
      const key = tenantOf.of(request)
      if (key === undefined) return otherwise(request, connection)
      try {
        return await handle(key, request, connection)
      } catch {
        return unavailable(request, connection)
      }
    },
    async use(key, call) {
      const slot = await tenants.acquire(key)
      try {
        return slot && (await call(slot.serving))
      } finally {
        slot?.release()
      }
    },
    runTasks: tenants.runTasks,
    close: tenants.close,
  }
}
