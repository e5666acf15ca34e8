import type { Runtime } from '@grantry/core'
import { createAnswer, failure } from './answer.ts'
import { nativeCrypto } from './native-crypto.ts'
import { createReports } from './reports.ts'
import {
  defaultDrain,
  type RunningServer,
  requestTimeoutOf,
  type Servable,
  type ServeOptions,
} from './running-server.ts'

/** What of Bun's server is used here; structural, so that nobody needs `bun-types`. */
export interface BunServer {
  readonly port?: number | undefined
  requestIP(request: Request): { readonly address: string } | null
  stop(closeActiveConnections?: boolean): Promise<void> | void
}

type BunFetch = (request: Request, server: BunServer) => Promise<Response>

interface BunServeOptions {
  readonly port: number
  readonly hostname: string
  readonly development: false
  readonly reusePort: false
  readonly idleTimeout: number
  readonly fetch: BunFetch
  error(cause: unknown): Response
}

interface Hash {
  hash(data: Uint8Array): Uint8Array
}

interface Bun {
  readonly SHA256: Hash
  readonly SHA512: Hash
  serve(options: BunServeOptions): BunServer
}

// A limit of Bun's own, in seconds.
const longestIdle = 255

function bun(): Bun {
  const found = (globalThis as { readonly Bun?: Bun }).Bun
  if (found === undefined) throw new TypeError('@grantry/adapters/bun runs on Bun only; here is no Bun')
  return found
}

/**
 * Faster parts for a provider on Bun, with the same meaning: those of `node:crypto`, which Bun has too, and hashing that is Bun's own (0.1 microseconds for a
 * token, where JavaScript takes 1.3).
 *
 * @example
 * const provider = await createProvider({ ...options, runtime: bunRuntime })
 */
export const bunRuntime: Partial<Runtime> = Object.freeze({
  ...nativeCrypto,
  sha256: (data: Uint8Array) => bun().SHA256.hash(data),
  sha512: (data: Uint8Array) => bun().SHA512.hash(data),
})

/**
 * A provider as the `fetch` of a `Bun.serve` of your own, where it answers every request.
 *
 * @example
 * Bun.serve({ port: 8484, development: false, reusePort: false, fetch: bunHandler(provider) })
 */
export function bunHandler(provider: Servable, options: ServeOptions = {}): BunFetch {
  const answer = createAnswer(provider, options)
  return (request, server) => answer(request, server.requestIP(request)?.address)
}

/**
 * Serves a provider on Bun.
 *
 * @throws TypeError where this is no Bun; Bun's error when the port cannot be listened on.
 * @example
 * const { port, close } = await serve(provider, { port: 8484 })
 */
export async function serve(provider: Servable, options: ServeOptions = {}): Promise<RunningServer<BunServer>> {
  const { host = '127.0.0.1', port = 0 } = options
  const reports = createReports(options, 0)
  const server = bun().serve({
    port,
    hostname: host,
    // Otherwise Bun answers a failure with a page that shows the source.
    development: false,
    // Said explicitly: measured, two processes that leave it out can both listen on one port, each with half of the requests.
    reusePort: false,
    error(cause) {
      reports.error(cause)
      return failure()
    },
    // Bun cuts a connection on which nothing moves, also while the answer is made: later than the answer to a late body.
    idleTimeout: Math.min(longestIdle, Math.ceil(requestTimeoutOf(options)) + 10),
    fetch: bunHandler(provider, options),
  })
  return {
    server,
    host,
    port: server.port ?? port,
    async close(seconds = defaultDrain) {
      const deadline = setTimeout(() => server.stop(true), seconds * 1000)
      try {
        await server.stop(false)
      } finally {
        clearTimeout(deadline)
      }
    },
  }
}
