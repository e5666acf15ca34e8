import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { TLSSocket, Server as TlsServer } from 'node:tls'
import type { Times } from './bridge-options.ts'

interface Connection {
  /** Requests whose response has not ended. */
  pending: number
  /** Whether the connection has had a request. */
  isUsed: boolean
  /** Milliseconds; when the connection began to wait for a request. */
  since: number
  /** The bytes that had been read when its last request had arrived. Later ones belong to the next request. */
  read: number
}

const requestTimeout = (): Error => Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'

/**
 * Limits the time of the requests on the connections of a TLS server. For runtimes that do not: Bun 1.4.5 has no time
 * limits for connections that its HTTP server did not accept, and Deno 2.9.5 none for a connection whose last request
 * ended after its response.
 */
export function limitTimes(server: TlsServer, http: Server, times: Times): { closeIdle(): void } {
  const connections = new Map<TLSSocket, Connection>()
  const isIdle = (socket: TLSSocket, { pending, read }: Connection): boolean =>
    pending === 0 && socket.bytesRead === read

  function expire(socket: TLSSocket, isSilent: boolean): void {
    if (isSilent) socket.destroy()
    else http.emit('clientError', requestTimeout(), socket)
  }

  server.on('secureConnection', (socket) => {
    connections.set(socket, { pending: 0, isUsed: false, since: performance.now(), read: 0 })
    socket.once('close', () => connections.delete(socket))
  })

  http.on('request', (req: IncomingMessage, res: ServerResponse) => {
    const socket = req.socket as TLSSocket
    const connection = connections.get(socket)
    if (connection === undefined) return
    const arrived = (): void => {
      connection.since = performance.now()
      connection.read = socket.bytesRead
    }
    connection.pending += 1
    connection.isUsed = true
    res.once('close', () => {
      connection.pending -= 1
      connection.since = performance.now()
    })
    if (!hasBody(req)) {
      arrived()
      return
    }
    const deadline = setTimeout(() => expire(socket, false), times.requestTimeout)
    req.once('end', arrived)
    req.once('close', () => {
      clearTimeout(deadline)
      // Bytes that came after the body belong to the next request.
      if (!req.readableEnded) arrived()
    })
  })

  const check = setInterval(() => {
    const now = performance.now()
    for (const [socket, connection] of connections) {
      const idle = isIdle(socket, connection)
      const limit = idle && connection.isUsed ? times.keepAliveTimeout : times.requestTimeout
      if (connection.pending === 0 && connection.since < now - limit) expire(socket, idle)
    }
  }, times.connectionsCheckingInterval)
  check.unref()
  server.once('close', () => clearInterval(check))

  return {
    closeIdle() {
      for (const [socket, connection] of connections) if (isIdle(socket, connection)) socket.destroy()
    },
  }
}
