import type { ClientDirectory } from '../directory/clients.ts'
import type { EndpointKit } from '../plugin/endpoint.ts'
import type { PluginKits } from './plugin-kit.ts'
import type { ScopePolicy } from './scope-policy.ts'

/** Returns the kit of the endpoints of a plugin: the same one for every request. */
export type EndpointKitOf = (plugin: string) => EndpointKit

export function createEndpointKits(deps: {
  readonly plugins: PluginKits
  readonly clients: ClientDirectory
  readonly scopePolicy: ScopePolicy
}): EndpointKitOf {
  const { plugins, clients, scopePolicy } = deps
  return (plugin) => {
    const { issuer, now, sha256, equals, randomId, records } = plugins.kitOf(plugin)
    return {
      issuer,
      now,
      sha256,
      equals,
      randomId,
      records,
      async findClient(clientId) {
        const client = await clients.find(clientId)
        return client?.enabled ? client : undefined
      },
      scopesOf: (client, scope) => scopePolicy.requested(scope, { scope: 'required' }, client),
    }
  }
}
