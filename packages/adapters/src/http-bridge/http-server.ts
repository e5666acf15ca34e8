import { createServer, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import { createServer as createServerOfTls, type TLSSocket, type TlsOptions, type Server as TlsServer } from 'node:tls'
import type { Times } from './bridge-options.ts'
import { limitTimes } from './connection-clock.ts'
import { createVerification, secureContextOf, type TlsSettings, tlsOptionsOf } from './tls.ts'

/** A server that does not listen yet. */
export interface HttpServer {
  /** Emits requests, and reports malformed ones. */
  readonly http: Server
  /** Accepts connections: the same server, or a TLS server in front of it. */
  readonly acceptor: Server
  /** Closes the connections without a request. */
  closeIdle(): void
  closeAll(): void
  /** Whether the certificate of a client is verified. Only with TLS. */
  readonly isVerified?: ((socket: TLSSocket) => boolean) | undefined
  /** @throws TypeError without TLS; the error of Node.js when a text is not valid. */
  updateTls(settings: TlsSettings): void
}

function createPlainServer(times: Times): HttpServer {
  const http = createServer(times)
  return {
    http,
    acceptor: http,
    closeIdle: () => http.closeIdleConnections(),
    closeAll: () => http.closeAllConnections(),
    updateTls() {
      throw new TypeError('The server has no TLS')
    },
  }
}

/**
 * Creates a TLS server that passes its connections to an HTTP server. On Bun 1.4.5, the sockets of `node:https` have no
 * certificates; those of `node:tls` do.
 */
function createTlsFront(http: Server, options: TlsOptions): TlsServer {
  const server = createServerOfTls(options, (socket) => http.emit('connection', socket))
  // Bun reports a failed or late handshake, but leaves the connection open.
  server.on('tlsClientError', (_error, socket) => socket.destroy())
  return server
}

const isBun = 'Bun' in globalThis
/** Whether the runtime does not limit all times itself. */
const needsClock = isBun || 'Deno' in globalThis

function createTlsServer(tls: TlsSettings, times: Times): HttpServer {
  const verification = createVerification(tls)
  const options = { ...times, handshakeTimeout: times.requestTimeout, allowHalfOpen: true, ...tlsOptionsOf(tls) }
  const http = (isBun ? createServer(times) : createHttpsServer(options)) as Server
  const server = isBun ? createTlsFront(http, options) : (http as unknown as TlsServer)
  const clock = needsClock ? limitTimes(server, http, times) : undefined
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    verification.begin(socket)
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  // Before the connection is used.
  server.prependListener('secureConnection', verification.handshake)
  return {
    http,
    acceptor: server as unknown as Server,
    closeIdle() {
      if (!isBun) http.closeIdleConnections()
      clock?.closeIdle()
    },
    // Also those that have not completed the handshake.
    closeAll() {
      for (const socket of sockets) socket.destroy()
    },
    isVerified: verification.isVerified,
    updateTls(settings) {
      server.setSecureContext(secureContextOf(settings))
      verification.update(settings)
    },
  }
}

/** @throws TypeError for settings of `tls` that are not usable */
export const createHttpServer = (tls: TlsSettings | undefined, times: Times): HttpServer =>
  tls === undefined ? createPlainServer(times) : createTlsServer(tls, times)
