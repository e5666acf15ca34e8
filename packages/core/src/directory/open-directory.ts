import { allSteps } from '../config-problems.ts'
import type { clientSchema } from './client.ts'
import { type ClientDirectory, openClients } from './clients.ts'
import type { HostLimits } from './host-port.ts'
import type { ScopeOptions, scopeSchema } from './scope.ts'
import { openScopes, type ScopeDirectory } from './scopes.ts'
import { createUserClaims, type UserClaims } from './user-claims.ts'
import { openUsers, type UserService } from './user-service.ts'

/** The clients, scopes and users of a host. */
export interface Directory {
  readonly hostClients: ClientDirectory
  readonly scopes: ScopeDirectory
  readonly users: UserService
  readonly userClaims: UserClaims
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
  },
  schemas: {
    readonly clientSchema: typeof clientSchema
    readonly scopeSchema: typeof scopeSchema
    readonly pluginScopes: readonly ScopeOptions[]
  },
  hostLimits: HostLimits,
): Directory {
  const [hostClients, users, scopes] = allSteps([
    () => openClients(options.clients, schemas.clientSchema, hostLimits),
    () => openUsers(options.users, hostLimits),
    () => openScopes([...options.scopes, ...schemas.pluginScopes], schemas.scopeSchema),
  ])
  return {
    hostClients,
    scopes,
    users,
    userClaims: createUserClaims(scopes, users),
  }
}
