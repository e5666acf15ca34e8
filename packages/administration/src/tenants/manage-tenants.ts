import type { Administrator } from '../audit.ts'
import type { ManageDeps } from '../entry-writes.ts'
import { type EntryManager, manageEntries } from '../manage-entries.ts'
import { type TenantMembers, tenantType } from './tenant-type.ts'

export type TenantManager = EntryManager<TenantMembers>

/** Manages the tenants in the storage in the name of an administrator. */
export function manageTenants(deps: ManageDeps<TenantMembers>, by: Administrator): TenantManager {
  const manager = manageEntries(tenantType, deps, by)
  return {
    ...manager,
    async remove(name, options) {
      const { createdAt } = await manager.show(name)
      // Before it: afterwards, nothing knows its part of the storage. A note of a tenant that exists has no effect.
      const endedAt = deps.now()
      await deps.entries.create('ended-tenant', `${endedAt} ${createdAt}`, { name, createdAt, endedAt })
      await manager.remove(name, options)
    },
  }
}
