import {
  type AdministrationOptions,
  openAdministration,
  type StoredScopes,
  storedScopes,
} from '@grantry/administration'
import type { AdminHost } from '@grantry/administration/api'
import { type AtomicDriver, directorySchemasOf, openEntries, type Provider, type ProviderOptions } from '@grantry/core'
import { configuredClients } from '../configuration/configured-clients.ts'
import type { LoadedConfiguration } from '../configuration/load.ts'
import { invitations, secondFactors, userAuthorizations, userConsents, userSessions } from '../plugin-keys.ts'
import { newPasswordsOf } from '../users/hash-new-password.ts'
import { knownUsers } from '../users/known-users.ts'
import { assertClientNotConfigured } from './check-client.ts'
import { assertScopeNotConfigured } from './check-scope.ts'
import { createTenantCheck } from './check-tenant.ts'
import { createUserCheck } from './check-user.ts'
import { forgetUser } from './forget-user.ts'
import { revokeAndSignOut } from './revoke-and-sign-out.ts'
import { checked } from './try-provider.ts'

/**
 * Returns the checks of a running server. Its provider checks each value in less than a millisecond; a command has to create
 * one.
 */
export const createLiveChecks = (
  loaded: LoadedConfiguration,
  provider: Pick<Provider, 'checkClient' | 'checkScope'>,
  storedScopes: Pick<StoredScopes, 'list'>,
): AdministrationOptions['check'] => ({
  async client(client) {
    assertClientNotConfigured(client, loaded)
    // The provider may not know a scope that was added in this second.
    const names = (await storedScopes.list()).map(({ name }) => name)
    checked(client, (tried) => provider.checkClient(tried, names), {
      path: 'clients[0]',
      called: `client ${client.clientId}`,
    })
  },
  async scope(scope) {
    assertScopeNotConfigured(scope, loaded)
    checked(scope, (tried) => provider.checkScope(tried), { path: 'scopes[0]', called: `scope ${scope.name}` })
  },
  user: createUserCheck(loaded),
  tenant: createTenantCheck(loaded),
})

/** Returns what the admin API of a running server changes. */
export function openAdminHost(
  { configuration, directory }: Pick<LoadedConfiguration, 'configuration' | 'directory'>,
  storage: AtomicDriver,
  provider: Provider,
  { plugins, users: service }: Pick<ProviderOptions, 'plugins' | 'users'>,
): AdminHost {
  const entries = openEntries({ issuer: configuration.issuer, storage })
  // The caller of the API need not know the path of the file.
  const loaded = { configuration, directory, file: 'the configuration' }
  const administration = openAdministration({
    entries,
    check: createLiveChecks(loaded, provider, storedScopes(entries)),
    configuredClients: configuredClients(configuration),
    hashPassword: newPasswordsOf(provider),
    async revoke(target) {
      await revokeAndSignOut(target, provider)
    },
    renewClient: provider.renewClient,
    forgetUser: (sub) => forgetUser(sub, provider),
  })
  // These managers only read, so no administrator is named.
  const { users: stored } = administration.as({ who: '' })
  return {
    administration,
    users: knownUsers({ users: configuration.users, service, stored, provider }),
    keys: provider.keys,
    revoke: provider.revoke,
    schemas: directorySchemasOf(plugins),
    hasTenants: configuration.tenants !== undefined,
    ...(provider.has(userSessions) && { sessions: provider.use(userSessions) }),
    ...(provider.has(userAuthorizations) && { authorizations: provider.use(userAuthorizations) }),
    ...(provider.has(userConsents) && { consents: provider.use(userConsents) }),
    ...(provider.has(invitations) && { invitations: provider.use(invitations) }),
    ...(provider.has(secondFactors) && { secondFactors: provider.use(secondFactors) }),
  }
}
