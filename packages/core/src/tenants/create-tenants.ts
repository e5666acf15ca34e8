import { describeCause } from '../events/cause.ts'
import type { Observer, ProviderEvent } from '../events/event.ts'
import type { Handler } from '../http/connection.ts'
import type { ProviderOptions } from '../options.ts'
import { createProvider, type Provider } from '../provider.ts'
import type { AtomicDriver } from '../records/driver.ts'
import type { Runtime } from '../runtime.ts'
import type { MaybePromise } from '../types.ts'
import type { TenantServing } from './lease.ts'
import { type RoutedTenants, routeTenants } from './route-tenants.ts'
import { storageSpace } from './storage-space.ts'
import type { Tenant, TenantEvent, TenantLimits, TenantSource } from './tenant.ts'
import type { TenantOf } from './tenant-of.ts'

/** The options of the provider of a tenant. Its storage is a part of that of all tenants. */
export type TenantProviderOptions = Omit<ProviderOptions, 'storage'>

export interface TenantsOptions extends TenantLimits, TenantSource<TenantProviderOptions> {
  /** The storage of all tenants. Each uses a part of its own. */
  readonly storage: AtomicDriver
  /** How a request names its tenant: `tenantsByPath()`, `tenantsByHost()`, or another function. */
  readonly tenantOf: TenantOf
  /** Handles requests that name no tenant. Default: 404. */
  readonly otherwise?: Handler | undefined
  /**
   * Handles requests that name a tenant that does not exist. Default: 404 as JSON. The `notFound` of a provider shows
   * browsers a page.
   */
  readonly notFound?: Handler | undefined
  /** Handles requests to a tenant that cannot be opened. Default: 503 as JSON; `unavailable` of a provider shows a page. */
  readonly unavailable?: Handler | undefined
  /** Receives what happens to tenants. Default: failures are logged to `console.error`. */
  readonly observeTenants?: ((event: TenantEvent) => void) | undefined
  /** The clock of the tenants; that of a provider is among its options. */
  readonly runtime?: Pick<Runtime, 'elapsed'> | undefined
}

/** What serves a tenant: a provider of its own. */
export interface ProviderOfTenant extends TenantServing {
  readonly provider: Provider
}

export interface Tenants extends Omit<RoutedTenants<ProviderOfTenant>, 'use'> {
  /**
   * Calls a function with the provider of a tenant, which stays open meanwhile. Returns `undefined` if there is no such
   * tenant.
   */
  use<T>(key: string, call: (provider: Provider) => Promise<T>): Promise<T | undefined>
}

function logFailure({ type, tenant, cause }: TenantEvent): void {
  if (type !== 'tenant_failed') return
  const { name, message } = describeCause(cause)
  console.error(`grantry error: the tenant ${tenant} cannot be opened: ${name}: ${message}`)
}

/**
 * Returns an observer that names the tenant in each event. A tenant that a login has requested by `acr_values` is in
 * `requestedTenant` instead: a client chooses it.
 */
export function observerOf(tenant: string, observe: Observer): Observer {
  return (event) => {
    // Not spread, which costs several microseconds for facts of different shapes.
    const named: ProviderEvent = Object.assign({}, event, { tenant })
    return observe(event.tenant === undefined ? named : Object.assign(named, { requestedTenant: event.tenant }))
  }
}

/** @throws TypeError when requests would not reach a tenant with this issuer. */
export function assertReachable(tenantOf: TenantOf, key: string, issuer: string): void {
  const problem = tenantOf.issuerProblem?.(key, issuer)
  if (problem !== undefined) throw new TypeError(`The issuer ${issuer} cannot be that of this tenant: ${problem}`)
}

/**
 * Serves several issuers in one process. Each tenant is a provider of its own: it has its own clients, users, keys and
 * plugins, and a part of the storage that no other tenant can reach. A tenant is opened by its first request, and closed
 * when it is not used.
 *
 * @example
 * const tenants = createTenants({
 *   storage: postgresqlDriver({ url }),
 *   tenantOf: tenantsByPath(),
 *   find: async (name) => (await isCustomer(name)) ? { name, open: () => optionsOf(name) } : undefined,
 * })
 * export default { fetch: tenants.fetch }
 */
export function createTenants(options: TenantsOptions): Tenants {
  const { storage, tenantOf, observeTenants = logFailure } = options
  let opened: MaybePromise<void> | undefined
  // A driver is opened once, and a provider opens its storage.
  const shared: AtomicDriver = Object.create(storage, {
    open: {
      value: async () => {
        opened ??= Promise.resolve(storage.open?.()).catch((cause: unknown) => {
          opened = undefined
          throw cause
        })
        return opened
      },
    },
    dispose: { value: undefined },
  })

  async function open(
    built: TenantProviderOptions,
    { name, space = name }: Tenant<TenantProviderOptions>,
    key: string,
  ) {
    const { observe } = built
    assertReachable(tenantOf, key, built.issuer)
    const provider = await createProvider({
      ...built,
      ...(observe !== undefined && { observe: observerOf(name, observe) }),
      storage: storageSpace(shared, space),
    })
    const { issuer, fetch: handle, runTasks, close } = provider
    return { provider, issuer, handle, runTasks, close }
  }

  const routed = routeTenants<TenantProviderOptions, ProviderOfTenant>({
    ...options,
    source: options,
    open,
    observe: observeTenants,
  })
  return {
    get size() {
      return routed.size
    },
    fetch: routed.fetch,
    use: (key, call) => routed.use(key, ({ provider }) => call(provider)),
    runTasks: routed.runTasks,
    close: routed.close,
  }
}
