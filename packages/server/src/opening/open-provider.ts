import { type AtomicDriver, createProvider, type Observer, type Provider, type ProviderOptions } from '@grantry/core'
import { adapterOfThisRuntime } from '../adapter.ts'
import { loadAdminHost } from '../administration/load-admin-host.ts'
import type { LoadedConfiguration } from '../configuration/load.ts'
import type { PluginHosts } from '../configuration/named/plugin-hosts.ts'
import { configuredStorage } from '../configuration/storage/storage-drivers.ts'
import { providerOptions } from '../provider-options/provider-options.ts'

/** Creates a provider from a configuration. Loaded on demand: most commands need none. */
export async function openProvider(
  loaded: LoadedConfiguration,
  observe: Observer,
  wrap: (driver: AtomicDriver) => AtomicDriver,
  accounts: PluginHosts['accounts'],
): Promise<Provider> {
  const { driver } = await configuredStorage(loaded.configuration.storage, loaded.directory)
  try {
    const admin = await loadAdminHost(loaded.configuration)
    const adminHost = admin && (() => admin.openAdminHost(loaded, driver, provider, options))
    const options: ProviderOptions = await providerOptions(loaded, wrap(driver), observe, { adminHost, accounts })
    const { runtime } = await adapterOfThisRuntime()
    const provider: Provider = await createProvider({ ...options, runtime })
    return provider
  } catch (cause) {
    await driver.dispose?.()
    throw cause
  }
}
