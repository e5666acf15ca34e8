import type { Server } from 'node:http'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import { createBridge, type FetchHandler } from './bridge.ts'
import { defaultDrain, type RunningServer, type ServeOptions, timesOf } from './bridge-options.ts'
import { clientAddress } from './client-address.ts'
import { rejectMalformed } from './client-error.ts'
import { createHttpServer } from './http-server.ts'
import type { TlsSettings } from './tls.ts'

/** The options of every runtime, and those of Node.js only. */
export interface NodeServeOptions extends ServeOptions {
  /** Maximum number of open connections; default 10,000. Further connections are closed and reported to `onRefused`. */
  readonly maxConnections?: number | undefined
  /** Serves HTTPS. Default: HTTP. */
  readonly tls?: TlsSettings | undefined
}

/** A listening server of `node:http` or `node:https`. */
export interface RunningNodeServer extends RunningServer<Server> {
  /**
   * Uses another certificate, key and authorities for new connections.
   *
   * @throws TypeError when the server has no TLS; the error of Node.js when a text is not valid. The server then keeps the
   * earlier ones.
   */
  updateTls(settings: TlsSettings): void
}

const defaultConnections = 10_000

/** @throws TypeError when the limit is invalid: Node.js would then accept all connections, or none. */
function maxConnectionsOf({ maxConnections = defaultConnections }: NodeServeOptions): number {
  if (Number.isSafeInteger(maxConnections) && maxConnections >= 1) return maxConnections
  throw new TypeError('maxConnections must be a whole number of at least 1')
}

/** Connections waiting to be accepted. Measured: with Node's default of 511, a tenth of a burst of 2,000 was reset. */
const backlog = 4096

/** Milliseconds in which requests arrive that were sent before the port was closed. */
const linger = 100

/** Milliseconds for which idle connections stay open at most, while requests still arrive on others. */
const longestLinger = 1000

const isNode = !('Bun' in globalThis) && !('Deno' in globalThis)

/** Accepts no more connections. `close()` of an HTTP server of Node.js closes idle ones, too, and loses requests on them. */
function stopListening(acceptor: Server, done: () => void): void {
  if (isNode) NetServer.prototype.close.call(acceptor, done)
  else acceptor.close(done)
}

/**
 * Serves a handler over HTTP/1.1, with TLS if `tls` is set.
 *
 * @param origin the origin of every request URL, whatever `Host` says: `https://id.example.com`
 * @throws TypeError when a limit is invalid; the system's error when it cannot listen on the port.
 */
export async function serve(
  origin: string,
  handler: FetchHandler,
  options: NodeServeOptions = {},
): Promise<RunningNodeServer> {
  const { host = '127.0.0.1', port = 0, tls } = options
  const times = timesOf(options)
  let isClosing = false
  const { http, acceptor, closeIdle, closeAll, isVerified, updateTls } = createHttpServer(tls, times)
  const { listener, callbacks } = createBridge(origin, options, { isClosing: () => isClosing, isVerified })
  http.on('request', listener(handler))
  acceptor.maxConnections = maxConnectionsOf(options)
  const reportRefusal = (status: number, remoteAddress: string | undefined): void =>
    callbacks.refused({ status, method: '', clientAddress: clientAddress(remoteAddress, undefined, 0) })
  http.on('clientError', (error, socket) => {
    const status = rejectMalformed(error, socket as Socket)
    if (status !== undefined) reportRefusal(status, (socket as Socket).remoteAddress)
  })
  // Node.js has already closed the connection.
  acceptor.on('drop', (dropped) => reportRefusal(503, dropped?.remoteAddress))
  // A client that half-closes after its requests still gets all responses. By default, Node drops those still queued.
  Object.assign(http, { httpAllowHalfOpen: true })
  await new Promise<void>((resolve, reject) => {
    acceptor.once('error', reject)
    acceptor.listen({ port, host, backlog }, () => {
      acceptor.off('error', reject)
      resolve()
    })
  })
  return {
    server: acceptor,
    host,
    port: (acceptor.address() as AddressInfo).port,
    updateTls,
    close(seconds = defaultDrain) {
      isClosing = true
      return new Promise((resolve) => {
        const deadline = setTimeout(closeAll, seconds * 1000)
        const begun = performance.now()
        let lastRequest = 0
        http.on('request', () => {
          lastRequest = performance.now()
        })
        // A proxy that still sends requests takes an idle connection for each: none is closed before it has stopped.
        function closeUnused(): void {
          const now = performance.now()
          if (now - lastRequest >= linger || now - begun >= longestLinger) closeIdle()
        }
        // Timers run before a busy process reads arrived data, so a request could be lost with its connection.
        const closeIdleAfterReading = (): unknown => setImmediate(closeUnused)
        // Idle keep-alive connections, including those that become idle later, would delay the shutdown indefinitely.
        // They are not closed immediately, because a request can be on its way on one of them, or on a connection that
        // was just accepted.
        let idle: ReturnType<typeof setInterval> | undefined
        const first = setTimeout(
          () => {
            closeIdleAfterReading()
            idle = setInterval(closeIdleAfterReading, 20)
          },
          Math.min(linger, seconds * 1000),
        )
        stopListening(acceptor, () => {
          clearTimeout(deadline)
          clearTimeout(first)
          clearInterval(idle)
          // Ends the timer with which Node.js checks the times of connections.
          if (isNode) http.close()
          resolve()
        })
      })
    },
  }
}
