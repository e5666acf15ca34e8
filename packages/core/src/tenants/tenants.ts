export {
  assertReachable,
  createTenants,
  observerOf,
  type ProviderOfTenant,
  type TenantProviderOptions,
  type Tenants,
  type TenantsOptions,
} from './create-tenants.ts'
export type { TenantServing } from './lease.ts'
export { type RemovalPosition, removeTenantRecords } from './remove-records.ts'
export { type RoutedTenants, type RouteTenantsOptions, routeTenants } from './route-tenants.ts'
export { keysInSpace, storageSpace } from './storage-space.ts'
export type { OpenTenant, Tenant, TenantEvent, TenantLimits, TenantSource } from './tenant.ts'
export { isTenantName, type TenantOf, tenantsByHost, tenantsByPath } from './tenant-of.ts'
