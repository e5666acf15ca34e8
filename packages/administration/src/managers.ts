import type { ClientManager } from './clients/manage-clients.ts'
import type { ScopeManager } from './scopes/manage-scopes.ts'
import type { TenantManager } from './tenants/manage-tenants.ts'
import type { UserManager } from './users/manage-users.ts'

/** The managers of all kinds of entries. */
export interface Managers {
  readonly clients: ClientManager
  readonly scopes: ScopeManager
  readonly users: UserManager
  readonly tenants: TenantManager
}
