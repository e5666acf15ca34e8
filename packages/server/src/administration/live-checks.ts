import type { AdministrationOptions, StoredScopes } from '@grantry/administration'
import type { Provider } from '@grantry/core'
import type { LoadedConfiguration } from '../configuration/load.ts'
import { assertClientNotConfigured } from './check-client.ts'
import { assertScopeNotConfigured } from './check-scope.ts'
import { createTenantCheck } from './check-tenant.ts'
import { createUserCheck } from './check-user.ts'
import { checked } from './try-provider.ts'

/**
 * Returns the checks of a running server. Its provider checks each value in less than a millisecond; a command has to create
 * one.
 */
export const createLiveChecks = (
  loaded: LoadedConfiguration,
  provider: Pick<Provider, 'checkClient' | 'checkScope'>,
  storedScopes: StoredScopes,
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
