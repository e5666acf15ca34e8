import { refused } from '@grantry/administration'
import type { ScopeOptions } from '@grantry/core'
import type { LoadedConfiguration } from '../configuration/load.ts'
import { tryProvider } from './try-provider.ts'

/** Returns a function that rejects when the provider would refuse a scope. */
export function createScopeCheck(loaded: LoadedConfiguration) {
  const { configuration, file } = loaded
  return async (scope: ScopeOptions): Promise<void> => {
    if (configuration.scopes.some(({ name }) => name === scope.name)) {
      const message = `${file}: scopes has a scope ${scope.name} already; edit it there`
      throw refused('exists', message, { member: 'name' })
    }
    await tryProvider(loaded, { clients: [], scopes: [scope] }, { path: 'scopes[0]', called: `scope ${scope.name}` })
  }
}
