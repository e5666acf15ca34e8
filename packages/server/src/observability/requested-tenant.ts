import type { Observer } from '@grantry/core'

/**
 * Returns an observer that gets the tenant of a login as `requestedTenant`. A client chooses it: it must not look like a tenant
 * whose provider has recorded the event.
 */
export function withRequestedTenant(observe: Observer): Observer {
  return (event) => {
    if (event.tenant === undefined) return observe(event)
    const { tenant: requestedTenant, ...others } = event
    return observe({ ...others, requestedTenant })
  }
}
