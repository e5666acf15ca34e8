import { createProvider, type Observer, type Provider, parseConfiguration } from '@grantry/core'
import { adapterOfThisRuntime } from './adapter.ts'
import type { LoadedConfiguration } from './configuration/load.ts'
import { providerOptions } from './configuration/provider-options.ts'
import { type CheckedConfiguration, configurationSchema } from './configuration/schema.ts'
import { configuredStorage } from './configuration/storage.ts'
import { demoConfiguration } from './demo/configuration.ts'

/** Where the demo listens unless it is told otherwise. */
const demoIssuer = 'http://127.0.0.1:5000'

const messageOf = (thrown: unknown): string => {
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return message.replace(/^createProvider\(\): /u, '')
}

/**
 * The provider that a server of this configuration has, without the server: for commands that work beside it, through the storage that they share.
 *
 * @param loaded absent: the demo
 * @param work what to do with it; the storage is closed afterwards
 * @throws TypeError with one sentence when the configuration is wrong, or its storage is only in the memory of the server
 */
export async function withProvider<T>(
  loaded: LoadedConfiguration | undefined,
  observe: Observer,
  work: (provider: Provider) => Promise<T>,
): Promise<T> {
  const configuration: CheckedConfiguration =
    loaded?.configuration ?? parseConfiguration(configurationSchema, demoConfiguration(demoIssuer), 'demo')
  const directory = loaded?.directory ?? '.'
  const where = loaded === undefined ? '' : `${loaded.file}: `
  if (configuration.storage.driver === 'memory') {
    throw new TypeError(
      `${where}storage is memory, which only the running server can reach; take filesystem or redis for commands to work beside it`,
    )
  }
  const { driver } = await configuredStorage(configuration.storage, directory)
  let provider: Provider
  try {
    const built = await providerOptions({ configuration, directory }, driver, observe)
    const { runtime } = await adapterOfThisRuntime()
    provider = await createProvider({ ...built, runtime })
  } catch (cause) {
    await driver.dispose?.()
    throw new TypeError(`${where}${messageOf(cause)}`, { cause })
  }
  try {
    return await work(provider)
  } finally {
    await provider.close()
  }
}
