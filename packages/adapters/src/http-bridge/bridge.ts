import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TLSSocket } from 'node:tls'
import type { ReadResult } from './body-buffer.ts'
import type { BridgeOptions } from './bridge-options.ts'
import { type Callbacks, createCallbacks } from './callbacks.ts'
import { checkHead, lacksHeaders, originForm } from './check-head.ts'
import { clientAddress } from './client-address.ts'
import { createReadCertificate, type ReadCertificate } from './client-certificate.ts'
import { createConcurrencyLimit, type Slot } from './concurrency-limit.ts'
import { isIncomplete } from './last-response.ts'
import { LazyRequest } from './lazy-request.ts'
import { waitForTurn } from './pipelining.ts'
import { send } from './send.ts'
import { badTarget, type HttpError, internalServerError, overloaded, sendError } from './send-error.ts'

/** Handles a request. Returns `undefined` if it writes the response itself. */
export type FetchHandler = (
  request: Request,
  connection: {
    readonly clientAddress: string | undefined
    readonly clientCertificate: ReturnType<ReadCertificate>
  },
) => Promise<Response | undefined>

/** A request listener of `node:http`, `node:https` or `node:http2`. */
export type Listener = (req: IncomingMessage, res: ServerResponse) => void

/** Connects Node's objects with the Fetch API. */
export interface Bridge {
  /** Returns `undefined` for a target that is not a path. */
  requestOf(req: IncomingMessage, res: ServerResponse): LazyRequest | undefined
  /** Calls `handler` and sends its response. Errors are reported, never thrown. */
  respond(request: LazyRequest | undefined, req: IncomingMessage, res: ServerResponse, handler: FetchHandler): void
  /** Passes every request to `handler`. */
  listener(handler: FetchHandler): Listener
  readonly callbacks: Callbacks
}

const isLast = ({ done }: ReadResult): boolean => done

const joined = (value: string | readonly string[] | undefined): string | undefined =>
  typeof value === 'object' ? value.join(',') : value

/** The server that calls the listener. */
export interface BridgeServer {
  /** Whether it is shutting down; responses then close their connection. */
  readonly isClosing?: (() => boolean) | undefined
  /** Whether it has verified the certificate of a client. */
  readonly isVerified?: ((socket: TLSSocket) => boolean) | undefined
}

function addressOf(req: IncomingMessage, trustedProxies: number): string | undefined {
  const forwardedFor = lacksHeaders(req) ? undefined : joined(req.headers['x-forwarded-for'])
  return clientAddress(req.socket.remoteAddress, forwardedFor, trustedProxies)
}

function requestAt(origin: string, req: IncomingMessage, res: ServerResponse): LazyRequest | undefined {
  // Frameworks that mount the listener under a path keep the full target in `originalUrl`.
  const { originalUrl, url = '' } = req as { originalUrl?: string; url?: string }
  const path = originForm(originalUrl ?? url)
  return path === undefined ? undefined : new LazyRequest(req, res, origin + path)
}

/**
 * @param origin the origin of every request URL, whatever `Host` says: `https://id.example.com`
 * @throws TypeError when `maxRequests` or `maxBodies` is not a whole number of at least 1.
 */
export function createBridge(origin: string, options: BridgeOptions = {}, server: BridgeServer = {}): Bridge {
  const { trustedProxies = 0 } = options
  const readCertificate = createReadCertificate(options.clientCertificate, server.isVerified)
  const limit = createConcurrencyLimit(options)
  const callbacks = createCallbacks(options, trustedProxies)
  const { checkForwarding } = callbacks

  async function run(
    slot: Slot,
    request: LazyRequest,
    req: IncomingMessage,
    res: ServerResponse,
    handler: FetchHandler,
  ): Promise<void> {
    const rejectEvicted = (): void => reject(req, res, { ...overloaded, last: isIncomplete(req) })
    try {
      const { socket } = req
      const clientCertificate = readCertificate((name) => joined(req.headers[name]), socket.remoteAddress, socket)
      const connection = { clientAddress: addressOf(req, trustedProxies), clientCertificate }
      const response = await handler(request as unknown as Request, connection)
      if (server.isClosing?.()) res.shouldKeepAlive = false
      if (slot.evicted) rejectEvicted()
      else if (response !== undefined) await send(res, response)
    } catch (error) {
      // The handler failed, or the body that it streams.
      if (slot.evicted) return rejectEvicted()
      sendError(res, internalServerError)
      if (!request.isDisconnect(error)) callbacks.error(error, request as unknown as Request)
    } finally {
      limit.release(slot)
    }
  }

  function reject(req: IncomingMessage, res: ServerResponse, error: HttpError): void {
    sendError(res, error)
    callbacks.refused({ status: error.status, method: req.method ?? '', clientAddress: addressOf(req, trustedProxies) })
  }

  function begin(
    request: LazyRequest | undefined,
    req: IncomingMessage,
    res: ServerResponse,
    handler: FetchHandler,
  ): void {
    const error = request === undefined ? badTarget : checkHead(req)
    const slot = error === undefined ? limit.acquire() : undefined
    if (request === undefined || slot === undefined) {
      // One microtask later the rest of the packet is parsed, and it is known whether more of the body will follow.
      queueMicrotask(() => reject(req, res, error ?? overloaded))
      return
    }
    request.whileWaiting = (arrival) => limit.releaseWhile(slot, arrival, isLast)
    void run(slot, request, req, res, handler)
    // One microtask later a small body is complete.
    queueMicrotask(() => request.receiveBody())
  }

  const requestOf: Bridge['requestOf'] = (req, res) => requestAt(origin, req, res)

  const respond: Bridge['respond'] = (request, req, res, handler) => {
    // Node.js discards what its parser has read after such a request. So the response closes the connection, and the
    // client repeats the requests that it pipelined.
    if (req.headers.upgrade !== undefined) res.shouldKeepAlive = false
    checkForwarding?.((name) => req.headers[name], req.socket.remoteAddress)
    const turn = waitForTurn(req, res)
    if (turn === undefined) return begin(request, req, res, handler)
    request?.receiveBody()
    void turn.then((isNext) => isNext && begin(request, req, res, handler))
  }

  return {
    requestOf,
    respond,
    listener: (handler) => (req, res) => respond(requestOf(req, res), req, res, handler),
    callbacks,
  }
}
