import type { Runtime } from '@grantry/core'
import { createAnswer, failure } from './answer.ts'
import { nativeCrypto } from './native-crypto.ts'
import { refusal } from './refusal.ts'
import { createReports } from './reports.ts'
import { defaultDrain, type RunningServer, type Servable, type ServeOptions } from './running-server.ts'

/** What of Deno's server is used here; structural, so that nobody needs Deno's types. */
export interface DenoServer {
  readonly addr: { readonly port?: number }
  shutdown(): Promise<void>
  unref(): void
}

/** What Deno says of a connection. */
export interface DenoConnection {
  readonly remoteAddr: { readonly hostname?: string }
}

type DenoFetch = (request: Request, info: DenoConnection) => Promise<Response>

interface DenoServeOptions {
  readonly port: number
  readonly hostname: string
  onListen(): void
  onError(cause: unknown): Response
}

interface Deno {
  serve(options: DenoServeOptions, handler: DenoFetch): DenoServer
}

function deno(): Deno {
  const found = (globalThis as { readonly Deno?: Deno }).Deno
  if (found === undefined) throw new TypeError('@grantry/adapters/deno runs on Deno only; here is no Deno')
  return found
}

const { sha256Hex, base64url, encrypt, decrypt } = nativeCrypto

/**
 * Faster parts for a provider on Deno, with the same meaning, from the `node:crypto` that Deno has too. Only those that are faster there: hashing bytes takes longer
 * than JavaScript does (2.3 microseconds, 1.3; of a text 0.8, 2.2), and signatures take the same time as those of the web.
 *
 * @example
 * const provider = await createProvider({ ...options, runtime: denoRuntime })
 */
export const denoRuntime: Partial<Runtime> = Object.freeze({ sha256Hex, base64url, encrypt, decrypt })

/**
 * A provider as the handler of a `Deno.serve` of your own, where it answers every request.
 *
 * @example
 * Deno.serve({ port: 8484 }, denoHandler(provider))
 */
export function denoHandler(provider: Servable, options: ServeOptions = {}): DenoFetch {
  const answer = createAnswer(provider, options)
  return (request, { remoteAddr }) => answer(request, remoteAddr.hostname)
}

/**
 * Serves a provider on Deno.
 *
 * @throws TypeError where this is no Deno; Deno's error when the port cannot be listened on.
 * @example
 * const { port, close } = await serve(provider, { port: 8484 })
 */
export async function serve(provider: Servable, options: ServeOptions = {}): Promise<RunningServer<DenoServer>> {
  const { host = '127.0.0.1', port = 0 } = options
  const handler = denoHandler(provider, options)
  const reports = createReports(options, 0)
  const open = new Set<(answer: Response) => void>()
  const server = deno().serve(
    {
      port,
      hostname: host,
      onListen() {},
      onError(cause) {
        reports.error(cause)
        return failure()
      },
    },
    (request, info) =>
      new Promise((resolve, reject) => {
        open.add(resolve)
        handler(request, info)
          .then(resolve, reject)
          .finally(() => open.delete(resolve))
      }),
  )
  return {
    server,
    host,
    port: server.addr.port ?? port,
    async close(seconds = defaultDrain) {
      let timer: ReturnType<typeof setTimeout> | undefined
      const deadline = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, seconds * 1000)
      })
      const ended = server.shutdown()
      await Promise.race([ended, deadline])
      clearTimeout(timer)
      // Deno cannot cut connections once it shuts down (measured: aborting then throws): they get an answer, and hold nobody up.
      for (const end of open) end(refusal(503, 'server_error'))
      server.unref()
    },
  }
}
