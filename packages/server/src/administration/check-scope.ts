import { refused } from '@grantry/administration'
import type { ScopeOptions } from '@grantry/core'
import type { LoadedConfiguration } from '../configuration/load.ts'
import { checked, withEntryChecks } from './try-provider.ts'

/** @throws RefusedError when a scope with this name is in the configuration. */
export function assertScopeNotConfigured(
  scope: ScopeOptions,
  { configuration, file }: Pick<LoadedConfiguration, 'configuration' | 'file'>,
): void {
  if (!configuration.scopes.some(({ name }) => name === scope.name)) return
  const message = `${file}: scopes has a scope ${scope.name} already; edit it there`
  throw refused('exists', message, { member: 'name' })
}

/** Returns a function that rejects when the provider would refuse a scope. */
export function createScopeCheck(loaded: LoadedConfiguration) {
  return async (scope: ScopeOptions): Promise<void> => {
    assertScopeNotConfigured(scope, loaded)
    const tried = { path: 'scopes[0]', called: `scope ${scope.name}` }
    await withEntryChecks(loaded, [], ({ checkScope }) => checked(scope, checkScope, tried))
  }
}
