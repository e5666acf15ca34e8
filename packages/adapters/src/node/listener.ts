import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Handler } from '@grantry/core'
import { clientAddress } from '../client-address.ts'
import { LightRequest } from './light-request.ts'
import { badTarget, failure, overloaded, refuse } from './refusal.ts'
import { originForm, refusalOf } from './request-target.ts'
import { send } from './send.ts'

export interface NodeOptions {
  /** How many hops from the right of `X-Forwarded-For` are ours; default 0: the header is ignored. */
  readonly trustedProxies?: number
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
  requestOf(req: IncomingMessage, res: ServerResponse): Request | undefined
  /** Answers it with this handler; never rejects. */
  answer(req: IncomingMessage, res: ServerResponse, request: Request, handler: Handler): Promise<void>
}

const joined = (value: string | readonly string[] | undefined): string | undefined =>
  typeof value === 'object' ? value.join(',') : value

export function createBridge(issuer: string, { trustedProxies = 0, maxRequests = 1000 }: NodeOptions): Bridge {
  const { origin } = new URL(issuer)
  let underWay = 0

  const addressOf = ({ socket, headers }: IncomingMessage): string | undefined =>
    clientAddress(socket.remoteAddress, joined(headers['x-forwarded-for']), trustedProxies)

  return {
    requestOf(req, res) {
      // A framework that mounts the listener below a path keeps the whole target in `originalUrl`.
      const { originalUrl, url = '' } = req as { originalUrl?: string; url?: string }
      const path = originForm(originalUrl ?? url)
      return path === undefined ? undefined : (new LightRequest(req, res, origin + path) as unknown as Request)
    },
    async answer(req, res, request, handler) {
      const refusal = underWay >= maxRequests ? overloaded : refusalOf(req)
      if (refusal !== undefined) return refuse(res, refusal)
      underWay += 1
      try {
        await send(res, await handler(request, { clientAddress: addressOf(req) }))
      } catch {
        // Only a host's own handler rejects, or a body that it streams.
        refuse(res, failure)
      } finally {
        underWay -= 1
      }
    },
  }
}

/**
 * A provider as a listener of `node:http`, `node:https` or `node:http2`: everything is the provider's, and what it does not know gets 404. A body that
 * stalls is the server's to end: set its `requestTimeout`.
 *
 * @example
 * createServer({ requestTimeout: 30_000 }, nodeListener(provider)).listen(5000)
 */
export function nodeListener({ issuer, fetch }: Servable, options: NodeOptions = {}): Listener {
  const { requestOf, answer } = createBridge(issuer, options)
  return (req, res) => {
    const request = requestOf(req, res)
    if (request === undefined) refuse(res, badTarget)
    else void answer(req, res, request, fetch)
  }
}
