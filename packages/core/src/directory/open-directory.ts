import { allSteps } from '../config-problems.ts'
import { checkedRefusedSecrets, type RefusedSecrets } from './check-secret.ts'
import type { clientSchema } from './client.ts'
import type { ClientDirectory } from './client-directory.ts'
import { openClients } from './clients.ts'
import type { HostLimits } from './host-port.ts'
import type { ScopeOptions, scopeSchema } from './scope.ts'
import { type AddScopes, type LiveScopes, openScopes } from './scopes.ts'
import { openUsers, type UserService } from './user-service.ts'

/** The clients, scopes and users of a host. */
export interface Directory {
  readonly hostClients: ClientDirectory
  readonly scopes: LiveScopes
  readonly users: UserService
  readonly refusedSecrets: RefusedSecrets
}

/**
 * Opens the clients, scopes and users of a host.
 *
 * @throws TypeError with one sentence for a mistake in them.
 */
export function openDirectory(
  options: {
    readonly clients: Parameters<typeof openClients>[0]
    readonly scopes: readonly ScopeOptions[]
    readonly users: UserService
    readonly refusedSecrets: readonly string[]
  },
  schemas: {
    readonly clientSchema: typeof clientSchema
    readonly scopeSchema: typeof scopeSchema
    readonly pluginScopes: readonly ScopeOptions[]
  },
  hostLimits: HostLimits,
  addScopes: AddScopes | undefined,
): Directory {
  const [hostClients, users, scopes, refusedSecrets] = allSteps([
    () => openClients(options.clients, schemas.clientSchema, hostLimits),
    () => openUsers(options.users, hostLimits),
    () => openScopes([...options.scopes, ...schemas.pluginScopes], schemas.scopeSchema, addScopes),
    () => checkedRefusedSecrets(options),
  ])
  return { hostClients, scopes, users, refusedSecrets }
}
