import type { AtomicDriver, Observer, Provider } from '@grantry/core'
import { findConfiguration, type LoadedConfiguration, loadConfiguration } from '../configuration/load.ts'
import type { PluginHosts } from '../configuration/named/plugin-hosts.ts'
import { errorInFile } from '../error-message.ts'
import { configurationForTenant } from '../tenants/for-tenant.ts'
import { selectedTenant } from './command-options.ts'

/** Adds the other mistakes of a configuration to an error. The code that finds them is loaded on demand. */
async function withOthers(cause: unknown, file: string): Promise<unknown> {
  const { withAllProblems } = await import('../doctor/all-problems.ts')
  return withAllProblems(cause, file, process.env)
}

/**
 * Loads the configuration for a command. It never falls back to the demo: in the wrong directory, a command would report
 * success without having done anything.
 *
 * @throws TypeError with a one-line message if there is no configuration, or it is invalid.
 */
export async function requireConfiguration(config: string | undefined): Promise<LoadedConfiguration> {
  const file = config ?? findConfiguration(process.cwd())
  if (file === undefined) {
    throw new TypeError(
      `no configuration in ${process.cwd()}; change to its directory, pass it with --config, or create one with grantry init`,
    )
  }
  const loaded = await loadConfiguration(file, process.env).catch(async (cause: unknown) => {
    throw await withOthers(cause, file)
  })
  const tenant = selectedTenant()
  return tenant === undefined ? loaded : configurationForTenant(loaded, tenant)
}

/**
 * Checks that a command can reach the storage of the server.
 *
 * @param instead what the operator can do if it cannot
 * @throws TypeError with a one-line message if the storage is in the memory of the server.
 */
export function assertSharedStorage({ configuration, file }: LoadedConfiguration, instead: string): void {
  if (configuration.storage.driver !== 'memory') return
  throw new TypeError(`${file}: storage.driver is memory, which only the server process can access; ${instead}`)
}

/**
 * Creates a provider from a configuration, calls `use` with it, and closes it. A server can run on the same store.
 *
 * @throws TypeError with a one-line message if the configuration is invalid or the storage cannot be opened, and
 * whatever `use` throws.
 */
export async function withProvider<T>(
  loaded: LoadedConfiguration,
  use: (provider: Provider) => Promise<T>,
  observe: Observer = () => {},
  accounts?: PluginHosts['accounts'],
): Promise<T> {
  const provider = await openConfiguredProvider(loaded, observe, undefined, accounts)
  try {
    return await use(provider)
  } finally {
    await provider.close()
  }
}

/**
 * Creates a provider from a configuration, which the caller closes.
 *
 * @param accounts sends the mails; without it, they are lost
 * @param wrap returns the driver that the provider uses
 * @throws TypeError with a one-line message if the configuration is invalid or the storage cannot be opened.
 */
export async function openConfiguredProvider(
  loaded: LoadedConfiguration,
  observe: Observer = () => {},
  wrap: (driver: AtomicDriver) => AtomicDriver = (driver) => driver,
  accounts?: PluginHosts['accounts'],
): Promise<Provider> {
  try {
    const { openProvider } = await import('./open-provider.ts')
    return await openProvider(loaded, observe, wrap, accounts)
  } catch (cause) {
    throw await withOthers(errorInFile(cause, loaded.file, loaded.configuration), loaded.file)
  }
}
