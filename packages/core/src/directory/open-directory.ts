import { allSteps } from '../config-problems.ts'
import type { clientSchema } from './client.ts'
import { combineClients } from './client-sources.ts'
import { type ClientDirectory, type ClientStore, openClientSource, openClients } from './clients.ts'
import type { HostLimits } from './host-port.ts'
import type { ScopeOptions, scopeSchema } from './scope.ts'
import { openScopes, type ScopeDirectory } from './scopes.ts'
import { createUserClaims, type UserClaims } from './user-claims.ts'
import { openUsers, type UserService } from './user-service.ts'

/** Clients that a plugin keeps. */
interface SourceOfClients {
  readonly plugin: string
  readonly find: ClientStore['find']
}

/** The clients, scopes and users of a host. */
export interface Directory {
  readonly hostClients: ClientDirectory
  readonly scopes: ScopeDirectory
  readonly users: UserService
  readonly userClaims: UserClaims
  /** Returns the clients of the host together with those of plugins. */
  clientsWith(sources: readonly SourceOfClients[]): ClientDirectory
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
  schemas: { readonly clientSchema: typeof clientSchema; readonly scopeSchema: typeof scopeSchema },
  hostLimits: HostLimits,
): Directory {
  const [hostClients, users, scopes] = allSteps([
    () => openClients(options.clients, schemas.clientSchema, hostLimits),
    () => openUsers(options.users, hostLimits),
    () => openScopes(options.scopes, schemas.scopeSchema),
  ])
  return {
    hostClients,
    scopes,
    users,
    userClaims: createUserClaims(scopes, users),
    clientsWith: (sources) =>
      combineClients(
        hostClients,
        sources.map(({ plugin, find }) => openClientSource(plugin, find, schemas.clientSchema, hostLimits)),
        hostLimits.runtime,
      ),
  }
}
