import { describeCause, type Observer } from '@grantry/core'
import { observerOf, type TenantEvent } from '@grantry/core/tenants'
import { commonFields } from '../observability/adapter-reports.ts'
import type { Observability } from '../observability/observability.ts'
import type { ServerEvent, ServerObserver } from '../observability/server-event.ts'

/**
 * Returns the observability of the provider of a tenant: each event has its name, and its requests are counted. It does not
 * serve the metrics.
 */
export function observabilityOf(observability: Observability, tenant: string): Observability {
  const count = observability.countTenant(tenant)
  const observe: ServerObserver = (event) => {
    count(event)
    observability.observe(event)
  }
  // The routes of the server record events of their own.
  return { ...observability, observe: observerOf(tenant, observe as Observer) as ServerObserver, page: undefined }
}

/** Returns the event of a tenant that was opened or closed, or that could not be. */
export function tenantEvent({ type, tenant, reason, duration, cause }: TenantEvent): ServerEvent {
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
