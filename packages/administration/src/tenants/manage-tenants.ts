import type { Administrator } from '../audit.ts'
import type { ManageDeps } from '../entry-writes.ts'
import { type EntryManager, manageEntries } from '../manage-entries.ts'
import { type TenantMembers, tenantType } from './tenant-type.ts'

export type TenantManager = EntryManager<TenantMembers>

/** Manages the tenants in the storage in the name of an administrator. */
export const manageTenants = (deps: ManageDeps<TenantMembers>, by: Administrator): TenantManager =>
  manageEntries(tenantType, deps, by)
