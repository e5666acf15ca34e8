import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer, type TLSSocket, type TlsOptions, type Server as TlsServer } from 'node:tls'
import type { Times } from './options.ts'

interface Connection {
  /** Requests whose response has not ended. */
  pending: number
  /** Since when a request or the rest of its body is awaited, in milliseconds; `undefined` if none is. */
  since: number | undefined
  /** The bytes that had been read when the last response ended. */
  read: number
}

const requestTimeout = (): Error => Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'

/** A TLS server in front of an HTTP server. */
export interface TlsFront {
  readonly server: TlsServer
  /** Closes the connections without a request. */
  closeIdle(): void
}

/**
 * Creates a TLS server that passes its connections to an HTTP server. For Bun 1.4.5: the sockets of its `node:https` have no
 * certificates, those of its `node:tls` do. Its HTTP server has no time limits for connections that it did not accept, and
 * does not close them, so this does both.
 */
export function createTlsFront(http: Server, options: TlsOptions, times: Times): TlsFront {
  const connections = new Map<TLSSocket, Connection>()
  const isIdle = (socket: TLSSocket, { pending, read }: Connection): boolean =>
    pending === 0 && socket.bytesRead === read

  const server = createServer(options, (socket) => {
    connections.set(socket, { pending: 0, since: performance.now(), read: 0 })
    socket.once('close', () => connections.delete(socket))
    http.emit('connection', socket)
  })
  // Bun reports a failed or late handshake, but leaves the connection open.
  server.on('tlsClientError', (_error, socket) => socket.destroy())

  http.prependListener('request', (req: IncomingMessage, res: ServerResponse) => {
    const connection = connections.get(req.socket as TLSSocket)
    if (connection === undefined) return
    connection.pending += 1
    const arrived = (): void => {
      connection.since = undefined
    }
    if (hasBody(req)) req.once('end', arrived)
    else arrived()
    res.once('close', () => {
      connection.pending -= 1
      connection.read = req.socket.bytesRead
      if (connection.pending === 0) connection.since = performance.now()
    })
  })

  function checkTimes(): void {
    const latest = performance.now() - times.requestTimeout
    for (const [socket, connection] of connections) {
      if (connection.since === undefined || connection.since > latest) continue
      connection.since = undefined
      if (isIdle(socket, connection)) socket.destroy()
      else http.emit('clientError', requestTimeout(), socket)
    }
  }
  const checks = setInterval(checkTimes, times.connectionsCheckingInterval)
  checks.unref()
  server.once('close', () => clearInterval(checks))

  return {
    server,
    closeIdle() {
      for (const [socket, connection] of connections) if (isIdle(socket, connection)) socket.destroy()
    },
  }
}
