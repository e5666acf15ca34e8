import { createProvider, type Observer, type Provider, type ProviderOptions } from '@grantry/core'
import type { Adapter } from './adapter.ts'
import { openAdminHost } from './administration/admin-host.ts'
import { consoleAdministration } from './configuration/console-client.ts'
import { isNamedPlugin } from './configuration/named-plugins.ts'
import { providerOptions } from './configuration/provider-options.ts'
import type { CheckedConfiguration } from './configuration/schema.ts'
import type { configuredStorage } from './configuration/storage/storage-drivers.ts'
import type { openConsole } from './console.ts'
import { homePage } from './home-page.ts'
import type { Observability } from './observability/observability.ts'
import { serverRoutes } from './server-routes.ts'
import { isUserDatabase } from './users/user-databases.ts'

interface OpenedProvider {
  readonly provider: Provider
  /** Returns the handler of the pages beside the endpoints of the provider. */
  readonly routes: ReturnType<typeof serverRoutes>
  /** The options of the provider. */
  readonly built: ProviderOptions
}

const isAdmin = (plugin: unknown): boolean => isNamedPlugin(plugin) && plugin.name === 'admin'

/** Creates the provider with an open database of users, which it closes with the provider. */
async function createOpened(options: ProviderOptions, { runtime }: Adapter): Promise<Provider> {
  const { users } = options
  const database = isUserDatabase(users) ? users : undefined
  try {
    await database?.open()
    const provider = await createProvider({ ...options, runtime })
    if (database === undefined) return provider
    return {
      ...provider,
      get observerFailures() {
        return provider.observerFailures
      },
      async close() {
        await provider.close()
        await database.close()
      },
    }
  } catch (cause) {
    await database?.close()
    throw cause
  }
}

/** Creates the provider of a configuration, and the routes beside it. Closes the storage if that fails. */
export async function openProvider({
  configuration,
  directory,
  storage,
  adapter,
  observability,
  console,
  isStopping,
}: {
  readonly configuration: CheckedConfiguration
  /** The directory of the configuration. */
  readonly directory: string
  readonly storage: Awaited<ReturnType<typeof configuredStorage>>
  readonly adapter: Adapter
  readonly observability: Observability
  readonly console: Awaited<ReturnType<typeof openConsole>> | false | undefined
  readonly isStopping: () => boolean
}): Promise<OpenedProvider> {
  const observe: Observer = (event) => {
    if (console) console.publish(event)
    observability.observe(event)
  }
  if (!configuration.administration && configuration.plugins?.some(isAdmin)) {
    await storage.driver.dispose?.()
    throw new TypeError('plugins: admin changes what is in the storage; set "administration": true')
  }
  const driver = observability.storage(storage.driver)
  // The admin API changes what its own provider serves.
  const adminHost = () => openAdminHost({ configuration, directory }, driver, provider)
  const built = await providerOptions({ configuration, directory }, driver, observe, adminHost)
  const untraced = await createOpened(built, adapter).catch(async (cause: unknown) => {
    await storage.driver.dispose?.()
    throw cause
  })
  const provider = observability.provider(untraced)
  try {
    const pages = console ? await console.routes(provider, built, consoleAdministration(configuration)) : undefined
    const routes = serverRoutes({
      provider,
      observe: observability.observe,
      metrics: observability.page,
      console: pages?.console,
      home: configuration.homePage ? homePage(provider) : undefined,
      demo: pages?.demo,
      isStopping,
    })
    return { provider, routes, built }
  } catch (cause) {
    await provider.close()
    throw cause
  }
}
