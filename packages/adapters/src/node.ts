import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Handler } from '@grantry/core'
import { createMiddleware } from '@hattip/adapter-node'
import { clientAddress } from './client-address.ts'

export interface NodeOptions {
  /** How many hops from the right of `X-Forwarded-For` are ours; default 0: the header is ignored. */
  readonly trustedProxies?: number
}

export interface ServeOptions extends NodeOptions {
  /** Default 0: a free one. */
  readonly port?: number
  /** Default `127.0.0.1`. */
  readonly host?: string
}

/** A server that listens. */
export interface RunningServer {
  readonly server: Server
  readonly host: string
  readonly port: number
  /** Takes no more connections, lets open requests end for at most so many seconds (default 10), then resolves. */
  close(seconds?: number): Promise<void>
}

/** What a server needs of a provider. */
export interface Servable {
  readonly issuer: string
  readonly fetch: Handler
}

type Listener = (req: IncomingMessage, res: ServerResponse) => void

/** Seconds in which a whole request must have come in: a body that stalls does not hold a connection for ever. */
const requestTimeout = 30

interface Refusal {
  readonly status: number
  readonly error: 'invalid_request' | 'server_error'
  readonly description?: string
  readonly allow?: string
}

/** As the provider would say it: wire contract, section 1. */
function refuse(res: ServerResponse, { status, error, description, allow }: Refusal): void {
  if (res.headersSent) {
    res.destroy()
    return
  }
  res.writeHead(status, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    pragma: 'no-cache',
    'x-content-type-options': 'nosniff',
    connection: 'close',
    ...(allow !== undefined && { allow }),
  })
  res.end(JSON.stringify({ error, ...(description !== undefined && { error_description: description }) }))
}

const badTarget: Refusal = { status: 400, error: 'invalid_request', description: 'The request target is not a path' }
const badMethod: Refusal = {
  status: 405,
  error: 'invalid_request',
  description: 'The method is not allowed here',
  allow: 'GET, HEAD, POST, OPTIONS',
}
const repeatedAuthorization: Refusal = {
  status: 400,
  error: 'invalid_request',
  description: 'The Authorization header is repeated',
}
const failure: Refusal = { status: 500, error: 'server_error' }

/** The path and query of a request target, or `undefined` for what no handler could be asked (`*`, an authority). */
function originForm(target: string): string | undefined {
  if (target.startsWith('/')) return target
  // RFC 9112 section 3.2.2: the absolute form is understood; its host means nothing here, the issuer is configuration.
  const rest = /^https?:\/\/[^/?#]*(.*)$/iu.exec(target)?.[1]
  if (rest === undefined) return undefined
  return rest.startsWith('/') ? rest : `/${rest}`
}

// The Fetch standard forbids these methods, so no Request can be made of them.
const forbiddenMethods: ReadonlySet<string> = new Set(['CONNECT', 'TRACE', 'TRACK'])

function repeatsAuthorization({ rawHeaders }: IncomingMessage): boolean {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === 'authorization') count += 1
  }
  return count > 1
}

/**
 * A provider as a listener of `node:http`. Builds on hattip and keeps from it what it gets wrong: targets and methods of which no `Request` can
 * be made, trust in `Host` and in environment variables, a stack on the console for a stranger's mistake.
 */
export function nodeListener(provider: Servable, options: NodeOptions = {}): Listener {
  const { trustedProxies = 0 } = options
  const middleware = createMiddleware(
    async ({ request, ip }) => {
      const address = clientAddress(ip, request.headers.get('x-forwarded-for') ?? undefined, trustedProxies)
      const response = await provider.fetch(request, { clientAddress: address })
      // The rest of an oversized body is not read: the connection cannot serve another request.
      if (response.status === 413) response.headers.set('connection', 'close')
      return response
    },
    // Said explicitly: what is left out, hattip takes from ORIGIN and TRUST_PROXY of the environment.
    { origin: new URL(provider.issuer).origin, trustProxy: false, alwaysCallNext: false },
  ) as (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void

  return (req, res) => {
    const target = originForm(req.url ?? '')
    if (target === undefined) return refuse(res, badTarget)
    if (forbiddenMethods.has(req.method ?? '')) return refuse(res, badMethod)
    // Node would keep the first and drop the others: two parties could then see two callers.
    if (repeatsAuthorization(req)) return refuse(res, repeatedAuthorization)
    req.url = target
    middleware(req, res, () => refuse(res, failure))
  }
}

/**
 * Serves a provider on Node.js.
 *
 * @throws the system's error when the port cannot be listened on.
 * @example
 * const { port, close } = await serve(provider, { port: 5000 })
 */
export async function serve(provider: Servable, options: ServeOptions = {}): Promise<RunningServer> {
  const { host = '127.0.0.1', port = 0 } = options
  const listener = nodeListener(provider, options)
  let closing = false
  const server = createServer({ requestTimeout: requestTimeout * 1000 }, (req, res) => {
    // A connection that is kept alive would hold up the end for as long as its client likes.
    res.once('close', () => {
      if (closing) setImmediate(() => server.closeIdleConnections())
    })
    listener(req, res)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  return {
    server,
    host,
    port: (server.address() as AddressInfo).port,
    close(seconds = 10) {
      closing = true
      return new Promise((resolve) => {
        const deadline = setTimeout(() => server.closeAllConnections(), seconds * 1000)
        server.close(() => {
          clearTimeout(deadline)
          resolve()
        })
        server.closeIdleConnections()
      })
    },
  }
}
