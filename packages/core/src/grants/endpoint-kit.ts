import type { ClientDirectory } from '../directory/client-directory.ts'
import { begins, isActive, type UserService } from '../directory/user-service.ts'
import type { AuthenticateUser, ProvedEpochOf, RememberAddress } from '../parts/authenticate-user.ts'
import type { EndpointKit } from '../parts/endpoint.ts'
import type { Store } from '../records/store.ts'
import type { Jwt } from '../tokens/jwt.ts'
import type { RevocationEpochs } from '../tokens/revocation-epochs.ts'
import type { Families } from '../tokens/stored-grant.ts'
import type { Authorizations } from './authorizations.ts'
import type { PluginKits } from './plugin-kit.ts'
import type { ScopeRules } from './scope-rules.ts'

/** Returns the kit of the endpoints, tasks and host functions of a plugin: the same one for every request. */
export type EndpointKitOf = (plugin: string) => EndpointKit

export function createEndpointKits(deps: {
  readonly issuer: string
  /** The absolute paths of the enabled endpoints. */
  readonly paths: ReadonlyMap<string, string>
  readonly jwt: Jwt
  readonly plugins: PluginKits
  readonly clients: ClientDirectory
  readonly users: UserService
  readonly scopeRules: () => ScopeRules
  readonly store: Store
  readonly revocationEpochs: RevocationEpochs
  readonly families: Families
  readonly authorizations: Authorizations
  readonly authenticateUser: AuthenticateUser
  readonly provedEpochOf: ProvedEpochOf
  readonly rememberAddress: RememberAddress
}): EndpointKitOf {
  const { issuer, paths, jwt, plugins, clients, users, scopeRules, authorizations } = deps
  const { store, revocationEpochs, families, authenticateUser, provedEpochOf, rememberAddress } = deps
  const { origin } = new URL(issuer)
  const kits = new Map<string, EndpointKit>()

  function createKit(plugin: string): EndpointKit {
    return {
      ...plugins.kitOf(plugin),
      endpointUrl(name) {
        const path = paths.get(name)
        return path === undefined ? undefined : `${origin}${path}`
      },
      readIdentityToken: (token) => jwt.verify(token, 'JWT', Number.POSITIVE_INFINITY),
      isUserActive: async (sub) => isActive(users, sub, begins),
      async epochOf(sub) {
        const [{ epoch }] = await store.getAll([revocationEpochs.ofSubject(sub)])
        return epoch
      },
      async epochOfClient(clientId) {
        const [{ epochs }] = await store.getAll([revocationEpochs.current(clientId, undefined)])
        return epochs.client
      },
      async epochsOf(sub, clientId) {
        const [{ epochs }] = await store.getAll([revocationEpochs.current(clientId, sub)])
        return epochs
      },
      areRevoked: async (ids) => store.getAll(ids.map(families.revocationOf)),
      async findClient(clientId, caller) {
        const client = await clients.find(clientId, undefined, caller)
        return client?.enabled ? client : undefined
      },
      lastingScopes: (scopes, grantedAt) => scopeRules().lasting(scopes, grantedAt),
      scopesOf: (client, scope) => scopeRules().policy.requested(scope, { scope: 'required' }, client),
      ...authorizations,
      authenticateUser,
      provedEpochOf,
      rememberAddress,
    }
  }

  return (plugin) => {
    const kit = kits.get(plugin) ?? createKit(plugin)
    kits.set(plugin, kit)
    return kit
  }
}
