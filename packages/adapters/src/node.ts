import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { clientAddress } from './client-address.ts'
import { refuseBytes } from './node/connection.ts'
import { createBridge, listenerOf, type Servable } from './node/listener.ts'
import {
  type ServeOptions as CommonOptions,
  defaultDrain,
  type RunningServer as RunningServerOf,
  requestTimeoutOf,
} from './running-server.ts'

export { type Listener, type NodeOptions, nodeListener, type Servable } from './node/listener.ts'
export { fastifyHook, koaMiddleware, type Middleware, type Mountable, nodeMiddleware } from './node/middleware.ts'
export { nodeRuntime } from './node/native-runtime.ts'

export interface ServeOptions extends CommonOptions {
  /** Open connections, default 10,000. One more is closed at once, and reported to `onRefused`. */
  readonly maxConnections?: number
}

const defaultConnections = 10_000

/** @throws TypeError for what is no limit: Node.js would accept every connection, or none. */
function maxConnectionsOf({ maxConnections = defaultConnections }: ServeOptions): number {
  if (Number.isSafeInteger(maxConnections) && maxConnections >= 1) return maxConnections
  throw new TypeError('maxConnections must be a whole number of at least 1')
}

/** Connections that wait to be accepted. With Node's 511 a burst of 2,000 lost a tenth of them to resets (measured). */
const backlog = 4096

/** A server that listens. */
export type RunningServer = RunningServerOf<Server>

/**
 * Serves a provider on Node.js.
 *
 * @throws TypeError when a limit is not a whole number of at least 1; the system's error when the port cannot be listened on.
 * @example
 * const { port, close } = await serve(provider, { port: 8484 })
 */
export async function serve(provider: Servable, options: ServeOptions = {}): Promise<RunningServer> {
  const { host = '127.0.0.1', port = 0 } = options
  const requestTimeout = requestTimeoutOf(options)
  const times = {
    requestTimeout: requestTimeout * 1000,
    // Node looks every 30 s unless told otherwise: a time limit of 10 s could take 40.
    connectionsCheckingInterval: Math.min(1000, requestTimeout * 250),
  }
  let closing = false
  const bridge = createBridge(provider, options, () => closing)
  const server = createServer(times, listenerOf(bridge, provider.fetch))
  server.maxConnections = maxConnectionsOf(options)
  const reportRefusal = (status: number, remoteAddress: string | undefined): void =>
    bridge.reports.refused({ status, method: '', clientAddress: clientAddress(remoteAddress, undefined, 0) })
  server.on('clientError', (error, socket) => {
    const status = refuseBytes(error, socket as Socket)
    if (status !== undefined) reportRefusal(status, (socket as Socket).remoteAddress)
  })
  // Node.js has closed the connection already.
  server.on('drop', (dropped) => reportRefusal(503, dropped?.remoteAddress))
  // Whoever ends its half behind its requests still hears the answers; Node would drop those that wait for their turn.
  Object.assign(server, { httpAllowHalfOpen: true })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host, backlog }, () => {
      server.off('error', reject)
      resolve()
    })
  })
  return {
    server,
    host,
    port: (server.address() as AddressInfo).port,
    close(seconds = defaultDrain) {
      closing = true
      return new Promise((resolve) => {
        const deadline = setTimeout(() => server.closeAllConnections(), seconds * 1000)
        // A connection that is kept alive would hold up the end for as long as its client likes, also one whose request ends only now.
        const idle = setInterval(() => server.closeIdleConnections(), 20)
        server.close(() => {
          clearTimeout(deadline)
          clearInterval(idle)
          resolve()
        })
        server.closeIdleConnections()
      })
    },
  }
}
