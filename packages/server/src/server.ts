import { collectParts, type Handler, type Provider, parseConfiguration } from '@grantry/core'
import { type Adapter, adapterOfThisRuntime, type Listening } from './adapter.ts'
import { describeKeys } from './configuration/keys.ts'
import type { LoadedConfiguration } from './configuration/load.ts'
import { type CheckedConfiguration, configurationSchema } from './configuration/schema.ts'
import { configuredStorage } from './configuration/storage/storage-drivers.ts'
import { openTls } from './configuration/tls.ts'
import { openConsole } from './console.ts'
import { demoCommands } from './demo/commands.ts'
import { demoConfiguration } from './demo/configuration.ts'
import { errorInFile, listenFailure } from './error-message.ts'
import { gettingStartedCommands } from './getting-started.ts'
import { isLoopbackName, localOrigin, localPort, urlHost } from './local-address.ts'
import { adapterReports } from './observability/adapter-reports.ts'
import { type Observability, openObservability } from './observability/observability.ts'
import type { ServerObserver } from './observability/server-event.ts'
import { openProvider } from './open-provider.ts'
import { type ServerWarning, startupWarnings } from './startup-warnings.ts'

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
  /** Called with the provider once, before the first request. */
  readonly prepared?: ((provider: Provider) => void) | undefined
}

/** A running server. */
export interface GrantryServer {
  readonly provider: Provider
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
  /** Makes `/health/ready` return 503, so that load balancers stop sending requests. Requests are still served. */
  beginShutdown(): void
  /** Waits at most this many seconds for open requests, then closes the storage. */
  close(seconds: number): Promise<void>
}

const defaultPort = 8484

/** Seconds between two runs of the tasks of plugins. */
const taskInterval = 5

function portOf(issuer: string | undefined): number {
  if (issuer === undefined || !URL.canParse(issuer)) return defaultPort
  // A loopback issuer names the port to listen on. Any other issuer is behind a proxy.
  return new URL(issuer).port === '' ? defaultPort : (localPort(issuer) ?? defaultPort)
}

function describeMetrics({ page, listener }: Observability): string {
  if (listener !== undefined) return `http://${urlHost(listener.host)}:${listener.port}/metrics`
  return page === undefined ? 'off' : '/metrics, from this machine only'
}

/** Reads the files of `tls`, before anything else starts. */
function filesOfTls(loaded: LoadedConfiguration | undefined, adapter: Adapter): ReturnType<typeof openTls> {
  if (loaded === undefined) return {}
  try {
    return openTls(loaded, adapter)
  } catch (cause) {
    throw errorInFile(cause, loaded.file)
  }
}

function assertDemoHost(host: string): void {
  if (isLoopbackName(host)) return
  throw new TypeError(
    'the demo listens on loopback only, because its secrets are public; create a configuration with grantry init',
  )
}

const demoOf = (issuer: string): CheckedConfiguration =>
  parseConfiguration(configurationSchema, demoConfiguration(issuer), 'demo')

/** Creates a handler whose requests wait until the one of the server is ready. */
function createWaitingHandler(): { readonly fetch: Handler; ready(handler: Handler): void } {
  let own: Handler | undefined
  let resolveOwn: (handler: Handler) => void = () => {}
  const waiting = new Promise<Handler>((resolve) => {
    resolveOwn = resolve
  })
  return {
    fetch: (request, connection) =>
      own === undefined ? waiting.then((handler) => handler(request, connection)) : own(request, connection),
    ready(handler) {
      own = handler
      resolveOwn(handler)
    },
  }
}

/** Listens on the host and port. @throws TypeError with a one-line message if that fails. */
async function listen(
  adapter: Adapter,
  server: Parameters<Adapter['serve']>[0],
  options: Parameters<Adapter['serve']>[1] & { readonly host: string; readonly port: number },
  { maxRequests, maxBodies, maxConnections, clientCertificate }: Partial<CheckedConfiguration>,
): Promise<Listening> {
  try {
    return await adapter.serve(server, {
      ...options,
      ...(maxRequests !== undefined && { maxRequests }),
      ...(maxBodies !== undefined && { maxBodies }),
      ...(maxConnections !== undefined && { maxConnections }),
      ...(clientCertificate !== undefined && { clientCertificate }),
    })
  } catch (cause) {
    throw listenFailure(cause, options.host, options.port)
  }
}

/** Runs the tasks of plugins at the start and every few seconds. Returns a function that stops it. */
function repeatTasks(provider: Provider): () => void {
  const runTasks = (): void => void provider.runTasks()
  runTasks()
  const timer = setInterval(runTasks, taskInterval * 1000)
  return () => clearInterval(timer)
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
  try {
    const configuration = loaded?.configuration ?? demoOf(`${origin}:${running.port}`)
    const directory = loaded?.directory ?? options.directory ?? '.'
    const console = configuration.console && (await openConsole(configuration.console, isDemo))
    const storage = await configuredStorage(configuration.storage, directory)
    observability = await openObservability({ metrics: configuration.metrics, log, version, droppedLines }, adapter)
    let isStopping = false
    const { provider, routes, built } = await openProvider({
      configuration,
      directory,
      storage,
      adapter,
      observability,
      console,
      isStopping: () => isStopping,
    })
    options.prepared?.(provider)
    waiting.ready(
      observability.counted((request, connection) => (provider.route(request) ?? routes(request))(request, connection)),
    )
    const stopTasks = repeatTasks(provider)
    const own = localOrigin(host, running.port, tls !== undefined)
    const stopWatching = tls?.watch(
      (changed) => running.updateTls?.(changed),
      (message) => reports.onWarning?.({ reason: 'tls_files_not_loaded', message, clientAddress: undefined }),
    )
    return {
      provider,
      running,
      metrics: describeMetrics(observability),
      storage: storage.description,
      keys: describeKeys(configuration.keys),
      plugins: [...new Set(collectParts(built.plugins).map(({ plugin }) => plugin))],
      commands: isDemo ? demoCommands(provider.issuer) : gettingStartedCommands(own, provider.paths, built),
      isDemo,
      warnings: startupWarnings(configuration, provider, running.port),
      ...(console !== undefined && { consoleUrl: `${own}/console` }),
      beginShutdown() {
        isStopping = true
      },
      async close(seconds) {
        stopTasks()
        stopWatching?.()
        console?.close()
        await running.close(seconds)
        // Metrics can be scraped until the last request has finished.
        await observability?.listener?.close(0)
        await provider.close()
      },
    }
  } catch (cause) {
    await Promise.all([running.close(0), observability?.listener?.close(0)])
    throw loaded === undefined ? cause : errorInFile(cause, loaded.file)
  }
}
