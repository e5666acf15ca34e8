import type { AtomicDriver, Handler } from '@grantry/core'
import { type RoutedTenants, routeTenants, storageSpace, type TenantServing } from '@grantry/core/tenants'
import type { CheckedConfiguration } from '../configuration/schema.ts'
import { tenantConfiguration, tenantOf } from '../configuration/tenant-configuration.ts'
import type { TenantsConfiguration } from '../configuration/tenants.ts'
import type { Observability } from '../observability/observability.ts'
import { type OpenProviderOptions, openProvider } from '../provider/open-provider.ts'
import { findTenant, tenantEntries } from './find-tenant.ts'
import { observabilityOf, tenantEvent } from './observe-tenant.ts'
import { createRemoval } from './remove-ended.ts'

export interface ServeTenantsOptions extends Pick<OpenProviderOptions, 'directory' | 'adapter' | 'isStopping'> {
  /** Returns the present configuration: it is read again while the server runs. */
  readonly configuration: () => CheckedConfiguration
  readonly driver: AtomicDriver
  readonly observability: Observability
  /** Handles requests that name no tenant. */
  readonly otherwise: Handler
  /** Handles requests that name a tenant that does not exist. */
  readonly notFound: Handler
  /** Handles requests to a tenant that cannot be opened. */
  readonly unavailable: Handler
}

/** The tenants of a server. */
export interface ServedTenants extends RoutedTenants<TenantServing> {
  /** Opens all tenants again with the present configuration, within seconds. */
  configurationChanged(): void
}

/** Serves the tenants of the configuration, and those in the storage. */
export function serveTenants(tenants: TenantsConfiguration, options: ServeTenantsOptions): ServedTenants {
  const { configuration, driver, observability, otherwise, notFound, unavailable, ...common } = options
  const { issuer, administration } = configuration()
  const entries = administration ? tenantEntries({ issuer }, driver) : undefined
  const removal = entries && createRemoval(entries, driver, configuration, tenants)
  let generation = 1
  const current = (): TenantsConfiguration => configuration().tenants ?? tenants

  const routed = routeTenants<CheckedConfiguration, TenantServing>({
    maxOpen: tenants.maxOpen,
    closeAfter: tenants.closeAfter,
    tenantOf: tenantOf({ issuer }, tenants),
    otherwise,
    notFound,
    unavailable,
    observe: (event) => observability.observe(tenantEvent(event)),
    source: {
      async find(name) {
        const found = await findTenant(current(), entries, name)
        if (found === undefined) return undefined
        return {
          name,
          space: found.space,
          version: `${generation} ${found.version}`,
          open: () => tenantConfiguration(configuration(), current(), found.tenant),
        }
      },
      revision: async () => `${generation} ${await entries?.revision('tenant')}`,
    },
    async open(own, { name, space = name }) {
      const { provider, handle, close } = await openProvider({
        ...common,
        configuration: own,
        driver: storageSpace(driver, space),
        observability: observabilityOf(observability, name),
        console: undefined,
      })
      return { issuer: provider.issuer, handle, close, runTasks: provider.runTasks }
    },
  })
  return {
    ...routed,
    get size() {
      return routed.size
    },
    async runTasks() {
      // What could not be removed is tried again.
      await Promise.all([routed.runTasks(), removal?.run().catch(() => {})])
    },
    configurationChanged() {
      generation += 1
    },
  }
}
