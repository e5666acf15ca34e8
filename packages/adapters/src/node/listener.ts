import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Handler } from '@grantry/core'
import { assertAwaited } from '../awaited.ts'
import { clientAddress } from '../client-address.ts'
import type { ServeOptions } from '../running-server.ts'
import { turnOf } from './connection.ts'
import { LightRequest } from './light-request.ts'
import { createPlaces, type Place } from './places.ts'
import { badTarget, failure, overloaded, type Refusal, refuse } from './refusal.ts'
import { originForm, refusalOf } from './request-target.ts'
import { send } from './send.ts'

export interface NodeOptions extends Pick<ServeOptions, 'trustedProxies' | 'onRefused'> {
  /** Requests under way at once, default 1,000: what comes beyond them is answered 503 at once, and nobody waits in a queue without end. */
  readonly maxRequests?: number
}

/** What a server needs of a provider. */
export interface Servable {
  readonly issuer: string
  readonly fetch: Handler
}

export type Listener = (req: IncomingMessage, res: ServerResponse) => void

/** The way between Node's objects and the Fetch API. What it says of a request does not depend on what the request says of our host. */
export interface Bridge {
  /** `undefined` for a target of which no request can be made. */
  requestOf(req: IncomingMessage, res: ServerResponse): LightRequest | undefined
  /** Answers it with this handler; never rejects. */
  answer(request: LightRequest | undefined, req: IncomingMessage, res: ServerResponse, handler: Handler): void
}

const joined = (value: string | readonly string[] | undefined): string | undefined =>
  typeof value === 'object' ? value.join(',') : value

/**
 * @param isClosing whether the server takes no more connections: an answer then says that it is the last
 * @throws TypeError when `maxRequests` is no whole number of at least 1, or the provider was not awaited.
 */
export function createBridge(
  provider: Pick<Servable, 'issuer'>,
  options: NodeOptions,
  isClosing: () => boolean = () => false,
): Bridge {
  assertAwaited(provider)
  const { trustedProxies = 0, maxRequests = 1000, onRefused } = options
  const { origin } = new URL(provider.issuer)
  const places = createPlaces(maxRequests)

  const addressOf = ({ socket, headers }: IncomingMessage): string | undefined =>
    clientAddress(socket.remoteAddress, joined(headers['x-forwarded-for']), trustedProxies)

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
      if (place.lost) refuseAndTell(req, res, overloaded)
      else await send(res, response)
    } catch {
      // Only a host's own handler rejects, or a body that it streams.
      refuse(res, failure)
    } finally {
      places.give(place)
    }
  }

  function refuseAndTell(req: IncomingMessage, res: ServerResponse, refusal: Refusal): void {
    refuse(res, refusal)
    onRefused?.({ status: refusal.status, method: req.method ?? '', clientAddress: addressOf(req) })
  }

  function begin(request: LightRequest | undefined, req: IncomingMessage, res: ServerResponse, handler: Handler): void {
    const refusal = request === undefined ? badTarget : refusalOf(req)
    const place = refusal === undefined ? places.take() : undefined
    if (request === undefined || place === undefined) {
      // A microtask later the rest of the packet is parsed, and it shows whether more of a body is to come.
      queueMicrotask(() => refuseAndTell(req, res, refusal ?? overloaded))
      return
    }
    request.whileWaiting = (arrival) => places.whileWaiting(place, arrival)
    void answerWithin(place, request, req, res, handler)
  }

  return {
    requestOf(req, res) {
      // A framework that mounts the listener below a path keeps the whole target in `originalUrl`.
      const { originalUrl, url = '' } = req as { originalUrl?: string; url?: string }
      const path = originForm(originalUrl ?? url)
      return path === undefined ? undefined : new LightRequest(req, res, origin + path)
    },
    answer(request, req, res, handler) {
      const turn = turnOf(req, res)
      if (turn === undefined) begin(request, req, res, handler)
      else void turn.then((goesOn) => goesOn && begin(request, req, res, handler))
    },
  }
}

/**
 * A provider as a listener of `node:http`, `node:https` or `node:http2`: everything is the provider's, and what it does not know gets 404. A body that
 * stalls is the server's to end: set its `requestTimeout`.
 *
 * @throws TypeError when `maxRequests` is no whole number of at least 1.
 * @example
 * createServer({ requestTimeout: 30_000 }, nodeListener(provider)).listen(8484)
 */
export function nodeListener(provider: Servable, options: NodeOptions = {}): Listener {
  return listenerOf(createBridge(provider, options), provider.fetch)
}

export function listenerOf({ requestOf, answer }: Bridge, handler: Handler): Listener {
  return (req, res) => answer(requestOf(req, res), req, res, handler)
}
