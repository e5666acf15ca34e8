import { type AtomicDriver, describeCause, type Handler, type Observer } from '@grantry/core'
import {
  observerOf,
  type RoutedTenants,
  routeTenants,
  storageSpace,
  type TenantEvent,
  type TenantServing,
} from '@grantry/core/tenants'
import type { CheckedConfiguration } from '../configuration/schema.ts'
import { tenantConfiguration, tenantOf } from '../configuration/tenant-configuration.ts'
import type { TenantsConfiguration } from '../configuration/tenants-schema.ts'
import { commonFields } from '../observability/adapter-reports.ts'
import type { Observability } from '../observability/observability.ts'
import type { ServerEvent, ServerObserver } from '../observability/server-event.ts'
import type { MissingInTenants } from '../provider/missing-in-tenants.ts'
import { type OpenProviderOptions, openProvider } from '../provider/open-provider.ts'
import { findTenant, tenantEntries } from './find-tenant.ts'
import { createRemoval } from './remove-ended.ts'

/**
 * Returns the observability of the provider of a tenant: each event has its name, and its requests are counted. It does not
 * serve the metrics.
 */
function observabilityOf(observability: Observability, tenant: string): Observability {
  const count = observability.countTenant(tenant)
  const observe: ServerObserver = (event) => {
    count(event)
    observability.observe(event)
  }
  // The routes of the server record events of their own.
  return { ...observability, observe: observerOf(tenant, observe as Observer) as ServerObserver, page: undefined }
}

/** Returns the event of a tenant that was opened or closed, or that could not be. */
function tenantEvent({ type, tenant, reason, duration, cause }: TenantEvent): ServerEvent {
  if (type === 'tenant_failed') {
    return { type: 'unhandled_failure', ...commonFields(), reason: type, cause: describeCause(cause), tenant }
  }
  return {
    type,
    ...commonFields(),
    tenant,
    ...(reason !== undefined && { reason }),
    ...(duration !== undefined && { duration }),
  }
}

interface ServeTenantsOptions extends Pick<OpenProviderOptions, 'directory' | 'adapter' | 'isStopping'> {
  /** Returns the clients of tenants that have left the current configuration. */
  readonly missing: () => MissingInTenants
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

export interface ServedTenants extends RoutedTenants<TenantServing> {
  /** Opens all tenants again with the present configuration, within seconds. */
  configurationChanged(): void
}

/** Serves the tenants of the configuration, and those in the storage. */
export function serveTenants(tenants: TenantsConfiguration, options: ServeTenantsOptions): ServedTenants {
  const { configuration, driver, observability, missing, otherwise, notFound, unavailable, ...common } = options
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
        const match = await findTenant(current(), entries, name)
        if (match === undefined) return undefined
        return {
          name,
          space: match.space,
          version: `${generation} ${match.version}`,
          open: () => tenantConfiguration(configuration(), current(), match.tenant),
        }
      },
      revision: async () => `${generation} ${await entries?.revision('tenant')}`,
    },
    async open(ofTenant, { name, space = name }) {
      const listed = current().list.find((tenant) => tenant.name === name)?.name
      const { provider, handle, close } = await openProvider({
        ...common,
        configuration: ofTenant,
        driver: storageSpace(driver, space),
        observability: observabilityOf(observability, name),
        console: undefined,
        tenant: listed === undefined ? undefined : { name: listed, missing },
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
