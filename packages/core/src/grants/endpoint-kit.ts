import type { ClientDirectory } from '../directory/clients.ts'
import type { AuthenticateUser } from '../plugin/authenticate-user.ts'
import type { EndpointKit } from '../plugin/endpoint.ts'
import type { Authorizations } from './authorize.ts'
import type { PluginKits } from './plugin-kit.ts'
import type { ScopePolicy } from './scope-policy.ts'

/** Returns the kit of the endpoints of a plugin, or of the host: the same one for every request. */
export type EndpointKitOf = (plugin: string) => EndpointKit

export function createEndpointKits(deps: {
  readonly plugins: PluginKits
  readonly clients: ClientDirectory
  readonly scopePolicy: ScopePolicy
  readonly authorizations: Authorizations
  readonly authenticateUser: AuthenticateUser
}): EndpointKitOf {
  const { plugins, clients, scopePolicy, authorizations, authenticateUser } = deps
  const kits = new Map<string, EndpointKit>()

  function createKit(plugin: string): EndpointKit {
    return {
      ...plugins.kitOf(plugin),
      async findClient(clientId) {
        const client = await clients.find(clientId)
        return client?.enabled ? client : undefined
      },
      scopesOf: (client, scope) => scopePolicy.requested(scope, { scope: 'required' }, client),
      checkAuthorization: authorizations.check,
      authorize: authorizations.authorize,
      authenticateUser,
    }
  }

  return (plugin) => {
    const kit = kits.get(plugin) ?? createKit(plugin)
    kits.set(plugin, kit)
    return kit
  }
}
