import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Handler } from '@grantry/core'
import { assertAwaited } from '../awaited.ts'
import { clientAddress } from '../client-address.ts'
import { createPlaces, type Place } from '../places.ts'
import { createReports, type Reports } from '../reports.ts'
import type { HandlerOptions } from '../running-server.ts'
import { hasMore, turnOf } from './connection.ts'
import type { Result } from './late-body.ts'
import { LightRequest } from './light-request.ts'
import { badTarget, failure, overloaded, type Refusal, refuse } from './refusal.ts'
import { lacksHeaders, originForm, refusalOf } from './request-target.ts'
import { send } from './send.ts'

export type NodeOptions = HandlerOptions

/** The part of a provider that a server uses. */
export interface Servable {
  readonly issuer: string
  readonly fetch: Handler
}

export type Listener = (req: IncomingMessage, res: ServerResponse) => void

/** Connects Node's objects with the Fetch API. Request URLs have the issuer's origin, whatever `Host` says. */
export interface Bridge {
  /** Returns `undefined` for a target that is not a path. */
  requestOf(req: IncomingMessage, res: ServerResponse): LightRequest | undefined
  /** Calls `handler` and sends its response. Errors are reported, never thrown. */
  answer(request: LightRequest | undefined, req: IncomingMessage, res: ServerResponse, handler: Handler): void
  readonly reports: Reports
}

const isLast = ({ done }: Result): boolean => done

const joined = (value: string | readonly string[] | undefined): string | undefined =>
  typeof value === 'object' ? value.join(',') : value

/**
 * @param isClosing whether the server is shutting down; responses then close their connection
 * @throws TypeError when `maxRequests` or `maxBodies` is not a whole number of at least 1, or the provider was not
 * awaited.
 */
export function createBridge(
  provider: Pick<Servable, 'issuer'>,
  options: NodeOptions,
  isClosing: () => boolean = () => false,
): Bridge {
  assertAwaited(provider)
  const { trustedProxies = 0 } = options
  const { origin } = new URL(provider.issuer)
  const places = createPlaces(options)
  const reports = createReports(options, trustedProxies)
  const { checkForwarding } = reports

  function addressOf(req: IncomingMessage): string | undefined {
    const forwardedFor = lacksHeaders(req) ? undefined : joined(req.headers['x-forwarded-for'])
    return clientAddress(req.socket.remoteAddress, forwardedFor, trustedProxies)
  }

  async function answerWithin(
    place: Place,
    request: LightRequest,
    req: IncomingMessage,
    res: ServerResponse,
    handler: Handler,
  ): Promise<void> {
    try {
      const response = await handler(request as unknown as Request, { clientAddress: addressOf(req) })
      if (isClosing()) res.shouldKeepAlive = false
      if (place.lost) refuseAndTell(req, res, { ...overloaded, last: hasMore(req) })
      else await send(res, response)
    } catch (error) {
      // Only a handler of the host, or a body that it streams, can reject.
      fail(error, place, request, req, res)
    } finally {
      places.give(place)
    }
  }

  function fail(error: unknown, place: Place, request: LightRequest, req: IncomingMessage, res: ServerResponse): void {
    if (place.lost) {
      refuseAndTell(req, res, { ...overloaded, last: hasMore(req) })
      return
    }
    refuse(res, failure)
    if (!request.isDisconnect(error)) reports.error(error, request as unknown as Request)
  }

  function refuseAndTell(req: IncomingMessage, res: ServerResponse, refusal: Refusal): void {
    refuse(res, refusal)
    reports.refused({ status: refusal.status, method: req.method ?? '', clientAddress: addressOf(req) })
  }

  function begin(request: LightRequest | undefined, req: IncomingMessage, res: ServerResponse, handler: Handler): void {
    const refusal = request === undefined ? badTarget : refusalOf(req)
    const place = refusal === undefined ? places.take() : undefined
    if (request === undefined || place === undefined) {
      // One microtask later the rest of the packet is parsed, and it is known whether more of the body will follow.
      queueMicrotask(() => refuseAndTell(req, res, refusal ?? overloaded))
      return
    }
    request.whileWaiting = (arrival) => places.whileWaiting(place, arrival, isLast)
    void answerWithin(place, request, req, res, handler)
    // One microtask later a small body is complete.
    queueMicrotask(() => request.receiveBody())
  }

  return {
    requestOf(req, res) {
      // Frameworks that mount the listener under a path keep the full target in `originalUrl`.
      const { originalUrl, url = '' } = req as { originalUrl?: string; url?: string }
      const path = originForm(originalUrl ?? url)
      return path === undefined ? undefined : new LightRequest(req, res, origin + path)
    },
    answer(request, req, res, handler) {
      // Node.js discards what its parser has read after such a request. So the response closes the connection, and the
      // client repeats the requests that it pipelined.
      if (req.headers.upgrade !== undefined) res.shouldKeepAlive = false
      checkForwarding?.((name) => req.headers[name], req.socket.remoteAddress)
      const turn = turnOf(req, res)
      if (turn === undefined) return begin(request, req, res, handler)
      request?.receiveBody()
      void turn.then((goesOn) => goesOn && begin(request, req, res, handler))
    },
    reports,
  }
}

/**
 * Returns a request listener for `node:http`, `node:https` or `node:http2`. The provider handles every request; an
 * unknown path gets 404. Set the server's `requestTimeout`: the listener does not time out slow bodies.
 *
 * @throws TypeError when `maxRequests` or `maxBodies` is not a whole number of at least 1, or the provider was not
 * awaited.
 * @example
 * createServer({ requestTimeout: 30_000 }, nodeListener(provider)).listen(8484)
 */
export function nodeListener(provider: Servable, options: NodeOptions = {}): Listener {
  return listenerOf(createBridge(provider, options), provider.fetch)
}

export function listenerOf({ requestOf, answer }: Bridge, handler: Handler): Listener {
  return (req, res) => answer(requestOf(req, res), req, res, handler)
}
