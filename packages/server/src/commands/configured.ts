import { createProvider, type Observer, type Provider } from '@grantry/core'
import { adapterOfThisRuntime } from '../adapter.ts'
import { inFile } from '../configuration/in-file.ts'
import { findConfiguration, type LoadedConfiguration, loadConfiguration } from '../configuration/load.ts'
import { providerOptions } from '../configuration/provider-options.ts'
import { configuredStorage } from '../configuration/storage.ts'

/**
 * The configuration that a command is about. Never the demo: in the wrong directory a command would have done nothing, and said that it is done.
 *
 * @throws TypeError with one sentence when there is none, or it is wrong.
 */
export async function configured(config: string | undefined): Promise<LoadedConfiguration> {
  const file = config ?? findConfiguration(process.cwd())
  if (file === undefined) {
    throw new TypeError(
      `there is no configuration in ${process.cwd()}; go where the server's is, name it with --config, or make one with grantry init`,
    )
  }
  return loadConfiguration(file, process.env)
}

/**
 * For commands that work through the storage.
 *
 * @param instead what to do where they cannot
 * @throws TypeError with one sentence when the storage is only in the memory of the server.
 */
export function assertShared({ configuration, file }: LoadedConfiguration, instead: string): void {
  if (configuration.storage.driver !== 'memory') return
  throw new TypeError(`${file}: storage.driver is memory, which only the server's own process can reach; ${instead}`)
}

/**
 * Uses the provider of a configuration, beside the server that runs on the same store, and closes it.
 *
 * @throws TypeError with one sentence when the configuration is wrong or its storage cannot be had; what `use` throws.
 */
export async function withProvider<T>(
  loaded: LoadedConfiguration,
  use: (provider: Provider) => Promise<T>,
  observe: Observer = () => {},
): Promise<T> {
  const provider = await openProvider(loaded, observe).catch((cause: unknown) => {
    throw inFile(cause, loaded.file)
  })
  try {
    return await use(provider)
  } finally {
    await provider.close()
  }
}

async function openProvider(loaded: LoadedConfiguration, observe: Observer): Promise<Provider> {
  const { driver } = await configuredStorage(loaded.configuration.storage, loaded.directory)
  try {
    const options = await providerOptions(loaded, driver, observe)
    const { runtime } = await adapterOfThisRuntime()
    return await createProvider({ ...options, runtime })
  } catch (cause) {
    await driver.dispose?.()
    throw cause
  }
}
