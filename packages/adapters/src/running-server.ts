import type { PlaceLimits } from './places.ts'
import type { ReportOptions } from './reports.ts'

export type { AdapterWarning, RefusedRequest } from './reports.ts'

/** Options of every server and listener. */
export interface HandlerOptions extends PlaceLimits, ReportOptions {
  /** How many hops, from the right of `X-Forwarded-For`, are your own proxies. Default 0: the header is ignored. */
  readonly trustedProxies?: number
}

/** Options of `serve()` on every runtime. */
export interface ServeOptions extends HandlerOptions {
  /** Default 0: any free port. */
  readonly port?: number
  /** Default `127.0.0.1`. */
  readonly host?: string
  /** Seconds within which the whole request must arrive; default 30. On Deno only the body is limited. */
  readonly requestTimeout?: number
}

/** The part of a provider that a server uses. */
export interface Servable {
  fetch(request: Request, connection?: { readonly clientAddress?: string | undefined }): Promise<Response>
}

/** A listening server. */
export interface RunningServer<Server = unknown> {
  /** The runtime's own server object. */
  readonly server: Server
  readonly host: string
  readonly port: number
  /** Stops accepting connections, and closes open ones after their requests or after `seconds` (default 10). */
  close(seconds?: number): Promise<void>
}

const defaultRequestTimeout = 30
// Milliseconds. A timer with a longer delay fires immediately.
const longestTimeout = 2 ** 31 - 1

/**
 * Returns the seconds in which a request must arrive.
 *
 * @throws TypeError when the value is not positive, or longer than a timer can count.
 */
export function requestTimeoutOf({ requestTimeout = defaultRequestTimeout }: ServeOptions): number {
  if (requestTimeout > 0 && requestTimeout * 1000 <= longestTimeout) return requestTimeout
  throw new TypeError('requestTimeout must be a number of seconds above 0 and at most 2147483')
}

export const defaultDrain = 10
