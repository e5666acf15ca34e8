import type { CallbackOptions } from './callbacks.ts'
import type { CertificateHeader } from './client-certificate.ts'
import type { ConcurrencyOptions } from './concurrency-limit.ts'

/** Options of every server and listener. */
export interface BridgeOptions extends ConcurrencyOptions, CallbackOptions {
  /** How many hops, from the right of `X-Forwarded-For`, are your own proxies. Default 0: the header is ignored. */
  readonly trustedProxies?: number | undefined
  /** Where a proxy passes the certificates of clients. Without it, only a TLS server has certificates. */
  readonly clientCertificate?: CertificateHeader | undefined
}

/** Options of `serve()` on every runtime. */
export interface ServeOptions extends BridgeOptions {
  /** Default 0: any free port. */
  readonly port?: number | undefined
  /** Default `127.0.0.1`. */
  readonly host?: string | undefined
  /** Seconds within which the whole request must arrive; default 30. On Deno only the body is limited. */
  readonly requestTimeout?: number | undefined
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

/** Time limits of a server, in milliseconds. */
export interface Times {
  readonly requestTimeout: number
  readonly connectionsCheckingInterval: number
}

/** Seconds. */
export const defaultDrain = 10
const defaultRequestTimeout = 30
// Milliseconds. A timer with a longer delay fires immediately.
const maxTimeout = 2 ** 31 - 1

/**
 * Returns the seconds in which a request must arrive.
 *
 * @throws TypeError when the value is not positive, or longer than a timer can count.
 */
export function requestTimeoutOf({ requestTimeout = defaultRequestTimeout }: ServeOptions): number {
  if (requestTimeout > 0 && requestTimeout * 1000 <= maxTimeout) return requestTimeout
  throw new TypeError('requestTimeout must be a number of seconds above 0 and at most 2147483')
}
