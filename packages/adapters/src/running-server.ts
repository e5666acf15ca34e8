import type { PlaceLimits } from './places.ts'
import type { ReportOptions } from './reports.ts'

export type { AdapterWarning, RefusedRequest } from './reports.ts'

/** Options of every server and listener. */
export interface HandlerOptions extends PlaceLimits, ReportOptions {
  /** How many hops from the right of `X-Forwarded-For` are your own proxies; default 0: the header is ignored. */
  readonly trustedProxies?: number
}

/** Options of `serve()` on every runtime. */
export interface ServeOptions extends HandlerOptions {
  /** Default 0: a free one. */
  readonly port?: number
  /** Default `127.0.0.1`. */
  readonly host?: string
  /** Seconds in which the whole request must arrive, so that a body that stalls does not hold a connection for ever; default 30. */
  readonly requestTimeout?: number
}

/** What of a provider a server needs. */
export interface Servable {
  fetch(request: Request, connection?: { readonly clientAddress?: string | undefined }): Promise<Response>
}

/** A server that listens. */
export interface RunningServer<Server = unknown> {
  /** The runtime's own. */
  readonly server: Server
  readonly host: string
  readonly port: number
  /** Takes no more connections, lets open requests end for at most so many seconds (default 10), then resolves. */
  close(seconds?: number): Promise<void>
}

const defaultRequestTimeout = 30
// What a timer can count, in milliseconds: beyond it, it fires at once.
const longestTimeout = 2 ** 31 - 1

/**
 * Seconds in which a request must have come in.
 *
 * @throws TypeError for what would be no limit, or none that a timer keeps.
 */
export function requestTimeoutOf({ requestTimeout = defaultRequestTimeout }: ServeOptions): number {
  if (requestTimeout > 0 && requestTimeout * 1000 <= longestTimeout) return requestTimeout
  throw new TypeError('requestTimeout must be a number of seconds above 0')
}

export const defaultDrain = 10
