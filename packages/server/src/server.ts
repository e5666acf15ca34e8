import {
  createProvider,
  type Handler,
  type Observer,
  type Provider,
  parseConfiguration,
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

export interface StartOptions {
  /** Absent: the demo. */
  readonly loaded?: LoadedConfiguration | undefined
  /** Where the demo keeps its files; the working directory unless said otherwise. */
  readonly directory?: string | undefined
  readonly host?: string | undefined
  readonly port?: number | undefined
  readonly observe: Observer
}

/** A server that answers. */
export interface GrantryServer {
  readonly provider: Provider
  readonly running: Listening
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

/** What the server answers beside the provider. */
function ownRoutes(provider: Provider, users: UserService | undefined, isDemo: boolean): ReadonlyMap<string, Handler> {
  const routes = new Map<string, Handler>([
    ['/health/live', async () => status('live', 200)],
    [
      '/health/ready',
      async () => ((await provider.isReady()) ? status('ready', 200) : status('storage unavailable', 503)),
    ],
  ])
  if (isDemo && users !== undefined) routes.set('/demo/authorize', demoAuthorize(provider, users))
  return routes
}

/** A busy port, a forbidden one, an unknown address: what to do, in one sentence. */
function listenFailure(cause: unknown, host: string, port: number): Error {
  const { code, message } = cause as { code?: string; message?: string }
  const known: Readonly<Record<string, string>> = {
    EADDRINUSE: `port ${port} on ${host} is in use; stop what listens there, or take another with --port`,
    EACCES: `port ${port} may not be listened on by this user; take one above 1023 with --port`,
    EADDRNOTAVAIL: `${host} is no address of this machine; take one with --host`,
    ENOTFOUND: `${host} is no known host; take an address of this machine with --host`,
  }
  return new TypeError(known[code ?? ''] ?? `cannot listen on ${host}:${port}: ${message}`, { cause })
}

/** The provider's own sentence, told of the file that the operator wrote. */
function inFile(cause: unknown, file: string): Error {
  const message = cause instanceof Error ? cause.message : String(cause)
  return new TypeError(`${file}: ${message.replace(/^createProvider\(\): /u, '')}`, { cause })
}

/**
 * Listens first, so that a busy port is told before anything else is done, then builds the provider. Requests that come in between wait.
 *
 * @throws TypeError with one sentence when the port cannot be had or the configuration is wrong.
 */
export async function startServer(options: StartOptions): Promise<GrantryServer> {
  const { loaded, observe, host = '127.0.0.1', port = portOf(loaded?.configuration.issuer) } = options
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
    const built = await providerOptions({ configuration, directory }, storage.driver, observe)
    const provider = await createProvider({ ...built, runtime: adapter.runtime }).catch(async (cause: unknown) => {
      await storage.driver.dispose?.()
      throw cause
    })
    const routes = ownRoutes(provider, built.users, isDemo)
    ready((request, connection) => {
      const handler = provider.route(request) ?? routes.get(new URL(request.url).pathname) ?? provider.fetch
      return handler(request, connection)
    })
    const close = async (seconds: number): Promise<void> => {
      await running.close(seconds)
      await provider.close()
    }
    const keys = describeKeys(configuration.keys)
    return { provider, running, storage: storage.description, keys, isDemo, close }
  } catch (cause) {
    await running.close(0)
    throw loaded === undefined ? cause : inFile(cause, loaded.file)
  }
}
