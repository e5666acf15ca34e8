import type { AdministrationRoutes } from '@grantry/console'
import type { Handler, Observer, Provider, ProviderOptions } from '@grantry/core'
import type { ConsoleOptions } from '../configuration/console.ts'
import type { ConsoleAdministration } from '../configuration/console-client.ts'
import { demoSecrets } from '../demo/configuration.ts'
import { accessRefusal } from './console-access.ts'

export interface ServerConsole {
  readonly publish: Observer
  /** Returns the handlers of the console and, for the demo, of its application. */
  routes(
    provider: Provider,
    options: ProviderOptions,
    console: ConsoleOptions,
    administration: ConsoleAdministration | undefined,
  ): Promise<{
    readonly console: ReadonlyMap<string, Handler>
    readonly demo: ReadonlyMap<string, Handler> | undefined
  }>
  close(): void
}

const load = (): Promise<typeof import('@grantry/console')> => import('@grantry/console')

/** The headers that prove who an administrator is. */
const proving = ['authorization', 'dpop']

/**
 * Returns a function that asks the admin API who the caller is. The proof of the caller is for the root of the API, and
 * works once.
 */
function refuseOthers({ fetch, issuer, paths }: Provider): AdministrationRoutes['refuse'] {
  const url = new URL(paths.admin ?? '', issuer)
  return async ({ headers }, connection) => {
    const proved = proving.flatMap((name) => {
      const value = headers.get(name)
      return value === null ? [] : [[name, value] as const]
    })
    const response = await fetch(new Request(url, { headers: Object.fromEntries(proved) }), connection)
    return response.status === 200 ? undefined : response
  }
}

/**
 * Loads the package of the console, which only a server that shows it needs.
 *
 * @throws TypeError with one sentence if it is not installed.
 */
export async function openConsole(isDemo: boolean, loadPackage = load): Promise<ServerConsole> {
  const { consoleRoutes, consoleSetup, createLiveEvents, demoRoutes } = await loadPackage().catch((cause: unknown) => {
    const isMissing = (cause as { readonly code?: unknown } | null)?.code === 'ERR_MODULE_NOT_FOUND'
    if (!isMissing) throw cause
    throw new TypeError('console: @grantry/console is not installed; install it, or set console to false', { cause })
  })
  const live = createLiveEvents()
  return {
    publish: live.publish,
    close: () => live.close(),
    async routes(provider, providerOptions, options, request) {
      const { issuer } = provider
      const setup = consoleSetup(provider, providerOptions, isDemo ? demoSecrets : undefined)
      return {
        console: await consoleRoutes({
          refuse: (request, connection) => accessRefusal(request, connection, { ...options, issuer }),
          setup,
          live,
          ...(request !== undefined && { administration: { request, refuse: refuseOthers(provider) } }),
        }),
        demo: isDemo
          ? await demoRoutes((request, connection) => accessRefusal(request, connection, { issuer, remote: false }))
          : undefined,
      }
    },
  }
}
