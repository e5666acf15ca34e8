import { createServer, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Times } from './options.ts'
import { secureContextOf, type TlsSettings, tlsOptionsOf } from './tls.ts'
import { createTlsFront } from './tls-front.ts'
import { createVerification } from './verification.ts'

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

/** On Bun 1.4.5, the sockets of `node:https` have no certificates; those of `node:tls` do. */
const needsFront = 'Bun' in globalThis

function createTlsServer(tls: TlsSettings, times: Times): HttpServer {
  const verification = createVerification(tls)
  const options = { ...times, handshakeTimeout: times.requestTimeout, allowHalfOpen: true, ...tlsOptionsOf(tls) }
  const http = (needsFront ? createServer(times) : createHttpsServer(options)) as Server
  const front = needsFront ? createTlsFront(http, options, times) : undefined
  const server = front?.server ?? (http as unknown as ReturnType<typeof createHttpsServer>)
  server.prependListener('secureConnection', verification.handshake)
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return {
    http,
    acceptor: server as unknown as Server,
    closeIdle: front?.closeIdle ?? (() => http.closeIdleConnections()),
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

/** @throws TypeError for a text of `tls` that is not PEM. */
export const createHttpServer = (tls: TlsSettings | undefined, times: Times): HttpServer =>
  tls === undefined ? createPlainServer(times) : createTlsServer(tls, times)
