import { collectParts, isLoopbackHost, type Provider, parseConfiguration } from '@grantry/core'
import { adapterOfThisRuntime, type Listening } from './adapter.ts'
import { describeKeys } from './configuration/configured-keys.ts'
import type { LoadedConfiguration } from './configuration/load.ts'
import { loadPluginsOf } from './configuration/named-plugins.ts'
import { type CheckedConfiguration, configurationSchema } from './configuration/schema.ts'
import type { ConfiguredStorage } from './configuration/storage/configured-storage.ts'
import { configuredStorage } from './configuration/storage/storage-drivers.ts'
import { demoCommands } from './demo/commands.ts'
import { demoConfiguration } from './demo/configuration.ts'
import { errorInFile } from './error-message.ts'
import { gettingStartedCommands } from './getting-started.ts'
import { createWaitingHandler, filesOfTls, listen, portOf } from './listen.ts'
import { localOrigin, urlHost } from './local-address.ts'
import { adapterReports } from './observability/adapter-reports.ts'
import { type Observability, openObservability } from './observability/observability.ts'
import type { ServerObserver } from './observability/server-event.ts'
import { type ServerWarning, startupWarnings } from './provider/startup-warnings.ts'
import type { ReloadOutcome } from './reload/reload.ts'
import { sharedDriver } from './reload/shared-driver.ts'
import { type RunningProvider, runProvider } from './running-provider.ts'

export interface StartOptions {
  /** The configuration; the demo if it is absent. */
  readonly loaded?: LoadedConfiguration | undefined
  /** The directory for the files of the demo. Defaults to the working directory. */
  readonly directory?: string | undefined
  readonly host?: string | undefined
  readonly port?: number | undefined
  readonly observe: ServerObserver
  /** The version of the server, for the metrics. */
  readonly version?: string | undefined
  /** Returns how many lines the log has dropped, for the metrics. */
  readonly droppedLines?: (() => number) | undefined
  /** Called with each provider before its first request: at the start, and when the configuration was read again. */
  readonly prepared?: ((provider: Provider, configuration: CheckedConfiguration) => void) | undefined
  /** Reads the configuration again, for `reload()`. */
  readonly read?: (() => Promise<LoadedConfiguration>) | undefined
}

/** A running server. */
export interface GrantryServer {
  /** The one that serves new requests. */
  readonly provider: Provider
  /** The configuration that is used. */
  readonly configuration: CheckedConfiguration
  readonly running: Listening
  /** Describes where `/metrics` is served. */
  readonly metrics: string
  /** Describes where codes and tokens are stored. */
  readonly storage: string
  /** Describes where the signing keys are stored. */
  readonly keys: string
  /** The names of the plugins: grant types, and the demands that checks settle. */
  readonly plugins: readonly string[]
  /** Shell commands that try out the server. */
  readonly commands: string
  readonly isDemo: boolean
  /** What should change in the configuration. */
  readonly warnings: readonly ServerWarning[]
  /** The URL of the console; absent if it is off. */
  readonly consoleUrl?: string
  /**
   * The URL of the page with mails that are not sent; absent unless users have accounts and there is no mail server.
   */
  readonly outboxUrl?: string
  /**
   * Reads the configuration again. Requests in progress end with the earlier one. If the configuration has a mistake,
   * nothing changes. Never rejects.
   */
  reload(): Promise<ReloadOutcome>
  /** Makes `/health/ready` return 503, so that load balancers stop sending requests. Requests are still served. */
  beginShutdown(): void
  /** Waits at most this many seconds for open requests, then closes the storage. */
  close(seconds: number): Promise<void>
}

function describeMetrics({ page, listener }: Observability): string {
  if (listener !== undefined) return `http://${urlHost(listener.host)}:${listener.port}/metrics`
  return page === undefined ? 'off' : '/metrics, from this machine only'
}

function assertDemoHost(host: string): void {
  if (isLoopbackHost(host)) return
  throw new TypeError(
    'the demo listens on loopback only, because its secrets are public; create a configuration with grantry init',
  )
}

async function demoOf(issuer: string): Promise<CheckedConfiguration> {
  const written = demoConfiguration(issuer)
  await loadPluginsOf(written)
  return parseConfiguration(configurationSchema, written, 'demo')
}

/**
 * Starts the server. It listens before it creates the provider, so that a busy port fails before anything else happens;
 * requests that arrive in between wait.
 *
 * @throws TypeError with a one-line message if the server cannot listen or the configuration is invalid.
 */
export async function startServer(options: StartOptions): Promise<GrantryServer> {
  const {
    loaded,
    observe: log,
    version = '',
    droppedLines = () => 0,
    host = '127.0.0.1',
    port = portOf(loaded?.configuration.issuer),
  } = options
  const isDemo = loaded === undefined
  if (isDemo) assertDemoHost(host)

  const waiting = createWaitingHandler()
  const origin = `http://${urlHost(host)}`
  const adapter = await adapterOfThisRuntime()
  const { tls, content } = filesOfTls(loaded, adapter)
  let observability: Observability | undefined
  const reports = adapterReports((event) => (observability?.observe ?? log)(event))
  const trustedProxies = loaded?.configuration.trustedProxies ?? 0
  const running = await listen(
    adapter,
    { issuer: origin, fetch: waiting.fetch },
    { host, port, trustedProxies, ...reports, ...(content !== undefined && { tls: content }) },
    loaded?.configuration ?? {},
  )
  let storage: ConfiguredStorage | undefined
  try {
    const configuration = loaded?.configuration ?? (await demoOf(`${origin}:${running.port}`))
    const directory = loaded?.directory ?? options.directory ?? '.'
    storage = await configuredStorage(configuration.storage, directory)
    observability = await openObservability({ metrics: configuration.metrics, log, version, droppedLines }, adapter)
    const providers = await runProvider({
      configuration,
      directory,
      driver: sharedDriver(observability.storage(storage.driver)),
      adapter,
      observability,
      isDemo,
      read: isDemo ? undefined : options.read,
      prepared: ({ provider, configuration }) => options.prepared?.(provider, configuration),
      warningsOf: ({ provider, configuration }) => startupWarnings(configuration, provider, running.port),
      reports,
    })
    waiting.ready(observability.counted(providers.handle))
    const localUrl = localOrigin(host, running.port, tls !== undefined)
    const stopWatching = tls?.watch(
      (changed) => running.updateTls?.(changed),
      (message) => reports.onWarning?.({ reason: 'tls_files_not_loaded', message, clientAddress: undefined }),
    )
    const { driver, description } = storage
    return {
      get provider() {
        return providers.current.provider
      },
      get configuration() {
        return providers.current.configuration
      },
      running,
      metrics: describeMetrics(observability),
      storage: description,
      ...described(providers, localUrl, isDemo),
      isDemo,
      warnings: startupWarnings(configuration, providers.current.provider, running.port),
      reload: providers.reload,
      beginShutdown: providers.beginShutdown,
      async close(seconds) {
        stopWatching?.()
        providers.stop()
        await running.close(seconds)
        // Metrics can be scraped until the last request has finished.
        await observability?.listener?.close(0)
        await providers.close()
        await driver.dispose?.()
      },
    }
  } catch (cause) {
    await Promise.all([running.close(0), observability?.listener?.close(0), storage?.driver.dispose?.()])
    throw loaded === undefined ? cause : errorInFile(cause, loaded.file, loaded.configuration)
  }
}

/** Describes what the server has started with. */
function described({ current }: RunningProvider, localUrl: string, isDemo: boolean) {
  const { configuration, provider, built, outboxUrl } = current
  return {
    keys: describeKeys(configuration.keys),
    plugins: [...new Set(collectParts(built.plugins).map(({ plugin }) => plugin))],
    commands: isDemo ? demoCommands(provider.issuer) : gettingStartedCommands(localUrl, provider.paths, built),
    ...(configuration.console !== undefined && { consoleUrl: `${localUrl}/console` }),
    ...(outboxUrl !== undefined && { outboxUrl }),
  }
}
