import { isDeepStrictEqual } from 'node:util'
import type { Handler } from '@grantry/core'
import type { AdapterReports } from './adapter.ts'
import type { LoadedConfiguration } from './configuration/load.ts'
import type { CheckedConfiguration } from './configuration/schema.ts'
import { assertTenants } from './configuration/tenant-configuration.ts'
import { openConsole, type ServerConsole } from './provider/console.ts'
import { missingInTenants } from './provider/missing-in-tenants.ts'
import { type OpenedProvider, type OpenProviderOptions, openProvider } from './provider/open-provider.ts'
import type { ServerWarning } from './provider/startup-warnings.ts'
import { createProviderSlot, type ProviderSlot } from './reload/provider-slot.ts'
import { createReload, type ReloadOutcome } from './reload/reload.ts'
import type { ServedTenants } from './tenants/serve-tenants.ts'

/** The provider that serves requests. A new configuration replaces it. */
export interface RunningProvider {
  readonly current: OpenedProvider
  readonly handle: Handler
  /** Runs the tasks of the plugins, also of open tenants, without waiting for the next interval. Never rejects. */
  runTasks(): Promise<void>
  /** Reads the configuration again, and serves new requests with it unless it is refused. Never rejects. */
  reload(): Promise<ReloadOutcome>
  /** Makes `/health/ready` return 503. No configuration is read from now on. */
  beginShutdown(): void
  /** Ends the tasks, and the streams of the console, which keep connections open. */
  stop(): void
  /** Closes the provider, and those that were replaced. The storage stays open. */
  close(): Promise<void>
}

interface RunProviderOptions extends Omit<OpenProviderOptions, 'console' | 'isStopping'> {
  readonly isDemo: boolean
  /** Reads the configuration again. Absent if there is no file. */
  readonly read: (() => Promise<LoadedConfiguration>) | undefined
  /** Called with each provider, before its first request. */
  readonly prepared: (opened: OpenedProvider) => void
  /** Returns what should change in the configuration of a provider that has replaced another one. */
  readonly warningsOf: (opened: OpenedProvider) => readonly ServerWarning[]
  readonly reports: AdapterReports
}

/** Seconds between two runs of the tasks of plugins. */
const taskInterval = 5

/** Seconds after which a replaced provider is closed although a request has not ended. */
const patience = 60

/** Opens the tenants of the configuration. The code is not loaded without them. */
async function openTenants(
  slot: ProviderSlot<OpenedProvider>,
  {
    configuration: { tenants },
    driver,
    directory,
    adapter,
    observability,
    isStopping,
  }: Omit<OpenProviderOptions, 'console'>,
): Promise<ServedTenants | undefined> {
  if (tenants === undefined) return undefined
  const { serveTenants } = await import('./tenants/serve-tenants.ts')
  const configuration = (): CheckedConfiguration => slot.current.configuration
  const missing = () => slot.current.provider.use(missingInTenants)
  const common = { driver, directory, adapter, observability, isStopping, missing }
  // The pages for browsers are those of the server.
  const notFound: Handler = (request, connection) => slot.current.provider.notFound(request, connection)
  const unavailable: Handler = (request, connection) => slot.current.provider.unavailable(request, connection)
  return serveTenants(tenants, { ...common, configuration, otherwise: slot.handle, notFound, unavailable })
}

/** Opens the provider of a configuration, and runs the tasks of its plugins every few seconds. */
export async function runProvider(options: RunProviderOptions): Promise<RunningProvider> {
  const { isDemo, read, prepared, warningsOf, reports, ...common } = options
  const { observability } = common
  let hasStopped = false
  const isStopping = (): boolean => hasStopped

  async function open(configuration: CheckedConfiguration, console: ServerConsole | undefined) {
    assertTenants(configuration)
    const opened = await openProvider({ ...common, configuration, console, isStopping })
    const forget = observability.watch(opened.provider)
    return {
      ...opened,
      async close() {
        await opened.close().finally(forget)
      },
    }
  }

  const newConsole = async ({ console }: CheckedConfiguration) => console && (await openConsole(isDemo))
  const first = await open(common.configuration, await newConsole(common.configuration))
  const slot = createProviderSlot<OpenedProvider>(first, {
    patience: patience * 1000,
    onError: (error) => reports.onError?.(error),
  })
  prepared(first)
  const tenants = await openTenants(slot, { ...common, isStopping })
  const runTasks = async (): Promise<void> => {
    await Promise.all([slot.current.provider.runTasks(), tenants?.runTasks()])
  }
  void runTasks()
  const timer = setInterval(() => void runTasks(), taskInterval * 1000)

  return {
    get current() {
      return slot.current
    },
    handle: tenants?.fetch ?? slot.handle,
    runTasks,
    reload: createReload<OpenedProvider>({
      read,
      current: () => slot.current.configuration,
      async open({ configuration }) {
        const { current } = slot
        // Pages that show live events stay connected, unless the setting that admits them has changed.
        const isSame = isDeepStrictEqual(current.configuration.console, configuration.console)
        return open(configuration, isSame ? current.console : await newConsole(configuration))
      },
      replace(opened) {
        const { console } = slot.current
        prepared(opened)
        slot.replace(opened)
        tenants?.configurationChanged()
        if (console !== opened.console) console?.close()
        void runTasks()
        for (const warning of warningsOf(opened)) reports.onWarning?.({ ...warning, clientAddress: undefined })
      },
      discard: (opened) => opened.close(),
      isStopping,
      observe: observability.observe,
    }),
    beginShutdown() {
      hasStopped = true
    },
    stop() {
      hasStopped = true
      clearInterval(timer)
      slot.current.console?.close()
    },
    async close() {
      await tenants?.close()
      await slot.close()
    },
  }
}
