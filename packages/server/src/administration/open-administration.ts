import { type Administration, type Managers, openAdministration } from '@grantry/administration'
import { type AtomicDriver, type EntryStore, openEntries, type Provider, type RevocationTarget } from '@grantry/core'
import { userSessions } from '@grantry/plugins/authorization-endpoint'
import { hashPassword } from '@grantry/users/password-hash'
import { withProvider } from '../commands/configuration.ts'
import type { LoadedConfiguration } from '../configuration/load.ts'
import { configuredStorage } from '../configuration/storage/storage-drivers.ts'
import { errorInFile } from '../error-message.ts'
import { configuredClients, createClientCheck } from './check-client.ts'
import { createScopeCheck } from './check-scope.ts'
import { createUserCheck } from './check-user.ts'
import { localAccount } from './local-account.ts'
import { storedScopes } from './stored-scopes.ts'

/** What a command changes in the storage of a configuration. */
export interface CommandAdministration extends Managers {
  readonly audit: Administration['audit']
}

/**
 * Opens the storage of a configuration, calls `use` with what administrators change in it, and closes it.
 *
 * @throws TypeError with a one-line message if the storage cannot keep entries, and whatever `use` throws.
 */
export async function withAdministration<T>(
  loaded: LoadedConfiguration,
  use: (administration: CommandAdministration) => Promise<T>,
): Promise<T> {
  const { configuration, directory, file } = loaded
  if (!configuration.administration) {
    throw new TypeError(
      `${file}: nothing in the storage can be changed by commands; set "administration": true, and restart the server`,
    )
  }
  const { driver } = await configuredStorage(configuration.storage, directory)
  try {
    const entries = await open(driver, loaded)
    const administration = openAdministration({
      entries,
      check: {
        client: createClientCheck(loaded, storedScopes(entries)),
        scope: createScopeCheck(loaded),
        user: createUserCheck(loaded),
      },
      configuredClients: configuredClients(configuration),
      hashPassword,
      revoke: async (target) => {
        await withProvider(loaded, (provider) => revokeAndSignOut(target, provider))
      },
    })
    return await use({ ...administration.as({ who: localAccount() }), audit: administration.audit })
  } finally {
    await driver.dispose?.()
  }
}

/** Revokes a target, and ends the sessions of a user, whose clients are informed. Returns the number of sessions. */
export async function revokeAndSignOut(target: RevocationTarget, provider: Provider): Promise<number> {
  await provider.revoke(target)
  return 'subject' in target && provider.has(userSessions) ? provider.use(userSessions).endAll(target.subject) : 0
}

async function open(driver: AtomicDriver, { configuration, file }: LoadedConfiguration): Promise<EntryStore> {
  try {
    await driver.open?.()
    return openEntries({ issuer: configuration.issuer, storage: driver })
  } catch (cause) {
    throw errorInFile(cause, file)
  }
}
