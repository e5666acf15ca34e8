import { hostname, userInfo } from 'node:os'
import {
  type Administration,
  type AuditedChange,
  type Managers,
  openAdministration,
  storedScopes,
} from '@grantry/administration'
import { type AtomicDriver, type EntryStore, openEntries, type Provider, type RevocationTarget } from '@grantry/core'
import { hashPassword } from '@grantry/users/password-hash'
import { createClientCheck } from '../administration/check-client.ts'
import { createScopeCheck } from '../administration/check-scope.ts'
import { createTenantCheck } from '../administration/check-tenant.ts'
import { createUserCheck } from '../administration/check-user.ts'
import { configuredClients } from '../configuration/configured-clients.ts'
import type { LoadedConfiguration } from '../configuration/load.ts'
import { configuredStorage } from '../configuration/storage/storage-drivers.ts'
import { errorInFile, errorMessage } from '../error-message.ts'
import { openConfiguredProvider } from './open-configuration.ts'

/** Returns the account and the machine of a command, for the audit trail. */
function localAccount(): string {
  try {
    return `${userInfo().username}@${hostname()}`
  } catch {
    // A container can run as a user without a name.
    return `uid ${process.getuid?.()}@${hostname()}`
  }
}

/** The managers with which a command changes the storage of a configuration. */
export interface CommandAdministration extends Managers {
  readonly audit: Administration['audit']
  /** Managers that do not check, for changes whose results have been checked together. */
  readonly unchecked: Managers
  /** Records a change that no manager makes, such as the end of a session. */
  readonly audited: <T>(change: AuditedChange, make: () => Promise<T>) => Promise<T>
}

/** Opens a provider for revocations when the first one is needed. A command can need thousands. */
function revocations(loaded: LoadedConfiguration) {
  let opened: Promise<Provider> | undefined
  const provider = (): Promise<Provider> => {
    opened ??= openConfiguredProvider(loaded)
    return opened
  }
  return {
    async revoke(target: RevocationTarget): Promise<void> {
      const { revokeAndSignOut } = await import('../administration/revoke-and-sign-out.ts')
      await revokeAndSignOut(target, await provider())
    },
    renewClient: async (clientId: string): Promise<void> => (await provider()).renewClient(clientId),
    async forgetUser(sub: string): Promise<void> {
      const { forgetUser } = await import('../administration/forget-user.ts')
      await forgetUser(sub, await provider())
    },
    async close(): Promise<void> {
      // If the provider could not be opened, the change has already failed.
      const provider = await opened?.catch(() => undefined)
      await provider?.close()
    },
  }
}

const accepted = async (): Promise<void> => {}

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
  const { close, ...ends } = revocations(loaded)
  try {
    const entries = await open(driver, loaded)
    const by = { who: localAccount() }
    const common = { entries, configuredClients: configuredClients(configuration), hashPassword, ...ends }
    const check = {
      client: createClientCheck(loaded, storedScopes(entries)),
      scope: createScopeCheck(loaded),
      user: createUserCheck(loaded),
      tenant: createTenantCheck(loaded),
    }
    const administration = openAdministration({ ...common, check })
    const unchecked = openAdministration({
      ...common,
      check: { client: accepted, scope: accepted, user: accepted, tenant: accepted },
    }).as(by)
    // Not copied: a copy would create all managers.
    const commands: CommandAdministration = Object.assign(administration.as(by), {
      audit: administration.audit,
      audited: <T>(change: AuditedChange, make: () => Promise<T>) => administration.audited(by, change, make),
      unchecked,
    })
    return await use(commands)
  } finally {
    await close()
    await driver.dispose?.()
  }
}

async function open(driver: AtomicDriver, { configuration, file }: LoadedConfiguration): Promise<EntryStore> {
  try {
    await driver.open?.()
    return openEntries({ issuer: configuration.issuer, storage: driver })
  } catch (cause) {
    throw errorInFile(cause, file)
  }
}

/** Prints why entries that are allowed have no effect. */
export function warnOf(warnings: readonly string[]): void {
  for (const warning of warnings) process.stderr.write(`grantry: warning: ${errorMessage(warning)}\n`)
}
