import {
  createProvider,
  type Handler,
  type Provider,
  parseConfiguration,
  pathOf,
  type UserService,
} from '@grantry/core'
import { adapterOfThisRuntime, type Listening } from './adapter.ts'
import { describeKeys } from './configuration/keys.ts'
import type { LoadedConfiguration } from './configuration/load.ts'
import { providerOptions } from './configuration/provider-options.ts'
import { configurationSchema } from './configuration/schema.ts'
import { configuredStorage } from './configuration/storage.ts'
import { demoAuthorize } from './demo/authorize.ts'
import { demoConfiguration } from './demo/configuration.ts'
import { listenFailure } from './listen-failure.ts'
import { type Observability, openObservability } from './observability/observability.ts'
import { ownRoute } from './observability/own-route.ts'
import type { ServerObserver } from './observability/server-event.ts'

export interface StartOptions {
  /** Absent: the demo. */
  readonly loaded?: LoadedConfiguration | undefined
  /** Where the demo keeps its files; the working directory unless said otherwise. */
  readonly directory?: string | undefined
  readonly host?: string | undefined
  readonly port?: number | undefined
  readonly observe: ServerObserver
  /** For the metrics: of this server, and lines that its log could not get rid of. */
  readonly version?: string | undefined
  readonly droppedLines?: (() => number) | undefined
}

/** A server that answers. */
export interface GrantryServer {
  readonly provider: Provider
  readonly running: Listening
  /** Where `/metrics` is, in words. */
  readonly metrics: string
  /** Where codes and tokens are kept, in words. */
  readonly storage: string
  /** Where the signing keys are, in words. */
  readonly keys: string
  readonly isDemo: boolean
  /** Lets open requests end for so many seconds, then closes the storage. */
  close(seconds: number): Promise<void>
}

const usualPort = 5000
const loopback: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '::1'])

/** Whether a URL names this machine; and the port that it names, said or not. */
export function localPort(url: string): number | undefined {
  const { hostname, port, protocol } = new URL(url)
  if (!loopback.has(hostname.replace(/^\[|\]$/gu, ''))) return undefined
  return Number(port || (protocol === 'https:' ? 443 : 80))
}

function portOf(issuer: string | undefined): number {
  if (issuer === undefined || !URL.canParse(issuer)) return usualPort
  // An issuer on this machine says where it wants to be found; any other is behind a proxy.
  return new URL(issuer).port === '' ? usualPort : (localPort(issuer) ?? usualPort)
}

const status = (text: string, code: number): Response =>
  Response.json({ status: text }, { status: code, headers: { 'cache-control': 'no-store' } })

/** What the server answers beside the provider, and what answers everything else. */
function ownRoutes(
  provider: Provider,
  { observe, page }: Observability,
  demoUsers: UserService | undefined,
): (request: Request) => Handler {
  const live: Handler = async () => status('live', 200)
  const ready: Handler = async () =>
    (await provider.isReady()) ? status('ready', 200) : status('storage unavailable', 503)
  const routes = new Map<string, Handler>([
    ['/health/live', ownRoute('health', live, observe)],
    ['/health/ready', ownRoute('health', ready, observe)],
  ])
  if (page !== undefined) routes.set('/metrics', ownRoute('metrics', page, observe))
  if (demoUsers !== undefined) {
    routes.set('/demo/authorize', ownRoute('demo', demoAuthorize(provider, demoUsers), observe))
  }
  const unknown = ownRoute('unknown', provider.fetch, observe)
  return (request) => routes.get(pathOf(request.url)) ?? unknown
}

function placeOfMetrics({ page, door }: Observability): string {
  if (door !== undefined) return `http://${door.host.includes(':') ? `[${door.host}]` : door.host}:${door.port}/metrics`
  return page === undefined ? 'off' : '/metrics, for this machine only'
}

/** The provider's own sentence, told of the file that the operator wrote. */
export function inFile(cause: unknown, file: string): Error {
  const message = cause instanceof Error ? cause.message : String(cause)
  return new TypeError(`${file}: ${message.replace(/^createProvider\(\): /u, '')}`, { cause })
}

/**
 * Listens first, so that a busy port is told before anything else is done, then builds the provider. Requests that come in between wait.
 *
 * @throws TypeError with one sentence when the port cannot be had or the configuration is wrong.
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
  if (isDemo && !loopback.has(host))
    throw new TypeError('the demo listens on loopback only: its secrets are public; write a configuration first')

  let ready: (handler: Handler) => void = () => {}
  const handler = new Promise<Handler>((resolve) => {
    ready = resolve
  })
  const trustedProxies = loaded?.configuration.trustedProxies ?? 0
  const origin = `http://${host.includes(':') ? `[${host}]` : host}`
  const adapter = await adapterOfThisRuntime()
  let running: Listening
  let metricsDoor: Listening | undefined
  try {
    const fetch: Handler = async (request, connection) => (await handler)(request, connection)
    running = await adapter.serve({ issuer: origin, fetch }, { host, port, trustedProxies })
  } catch (cause) {
    throw listenFailure(cause, host, port)
  }

  try {
    const issuer = `${origin}:${running.port}`
    const configuration =
      loaded?.configuration ?? parseConfiguration(configurationSchema, demoConfiguration(issuer), 'demo')
    const directory = loaded?.directory ?? options.directory ?? '.'
    const storage = await configuredStorage(configuration.storage, directory)
    const look = await openObservability({ metrics: configuration.metrics, log, version, droppedLines }, adapter)
    metricsDoor = look.door
    const driver = look.storage(storage.driver)
    const built = await providerOptions({ configuration, directory }, driver, look.observe)
    const plain = await createProvider({ ...built, runtime: adapter.runtime }).catch(async (cause: unknown) => {
      await storage.driver.dispose?.()
      throw cause
    })
    const provider = look.provider(plain)
    const ownHandler = ownRoutes(provider, look, isDemo ? built.users : undefined)
    ready(look.counted((request, connection) => (provider.route(request) ?? ownHandler(request))(request, connection)))
    const close = async (seconds: number): Promise<void> => {
      // Scrapers may look until the last request is answered.
      await running.close(seconds)
      await metricsDoor?.close(0)
      await provider.close()
    }
    const keys = describeKeys(configuration.keys)
    return { provider, running, metrics: placeOfMetrics(look), storage: storage.description, keys, isDemo, close }
  } catch (cause) {
    await Promise.all([running.close(0), metricsDoor?.close(0)])
    throw loaded === undefined ? cause : inFile(cause, loaded.file)
  }
}
