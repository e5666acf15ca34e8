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

/** Options of `serve()`. */
export interface ServeOptions extends CommonOptions {
  /** Maximum number of open connections; default 10,000. Further connections are closed and reported to `onRefused`. */
  readonly maxConnections?: number
}

const defaultConnections = 10_000

/** @throws TypeError when the limit is invalid: Node.js would then accept all connections, or none. */
function maxConnectionsOf({ maxConnections = defaultConnections }: ServeOptions): number {
  if (Number.isSafeInteger(maxConnections) && maxConnections >= 1) return maxConnections
  throw new TypeError('maxConnections must be a whole number of at least 1')
}

/** Connections waiting to be accepted. Measured: with Node's default of 511, a tenth of a burst of 2,000 was reset. */
const backlog = 4096

/** A listening server. */
export type RunningServer = RunningServerOf<Server>

/**
 * Serves a provider on Node.js.
 *
 * @throws TypeError when a limit is invalid; the system's error when it cannot listen on the port.
 * @example
 * const { port, close } = await serve(provider, { port: 8484 })
 */
export async function serve(provider: Servable, options: ServeOptions = {}): Promise<RunningServer> {
  const { host = '127.0.0.1', port = 0 } = options
  const requestTimeout = requestTimeoutOf(options)
  const times = {
    requestTimeout: requestTimeout * 1000,
    // By default, Node checks every 30 s, so a timeout of 10 s could take 40 s.
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
  // Node.js has already closed the connection.
  server.on('drop', (dropped) => reportRefusal(503, dropped?.remoteAddress))
  // A client that half-closes after its requests still gets all responses. By default, Node drops those still queued.
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
        // Idle keep-alive connections would delay the shutdown indefinitely, including those that become idle only now.
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
