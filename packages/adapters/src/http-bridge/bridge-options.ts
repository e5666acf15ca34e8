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
  /**
   * Seconds for which a connection stays open between two requests. It must be longer than the proxy keeps one: otherwise the
   * proxy sends a request on a connection that is being closed. Default: 75; with `trustedProxies` 620, which suits the 60
   * seconds of AWS and nginx and the 600 of Google Cloud. On Bun at most 255; Deno has no limit.
   */
  readonly idleTimeout?: number | undefined
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
  /** For the head of a request; not longer than for the whole. */
  readonly headersTimeout: number
  /** Between two requests. */
  readonly keepAliveTimeout: number
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

const defaultIdleTimeout = 75
/** The connections are those of proxies, which reuse them, and not of strangers, who could hold many. */
const idleTimeoutOfProxies = 620
const longestHeadTime = 60

/**
 * Returns the seconds for which a connection stays open between two requests.
 *
 * @throws TypeError when the value is not positive, or longer than a timer can count.
 */
export function idleTimeoutOf({ idleTimeout, trustedProxies = 0 }: ServeOptions): number {
  const seconds = idleTimeout ?? (trustedProxies > 0 ? idleTimeoutOfProxies : defaultIdleTimeout)
  if (seconds > 0 && seconds * 1000 <= maxTimeout) return seconds
  throw new TypeError('idleTimeout must be a number of seconds above 0 and at most 2147483')
}

/** Returns the time limits of a server of Node.js. @throws TypeError as `requestTimeoutOf()` and `idleTimeoutOf()` */
export function timesOf(options: ServeOptions): Times {
  const requestTimeout = requestTimeoutOf(options)
  return {
    requestTimeout: requestTimeout * 1000,
    headersTimeout: Math.min(longestHeadTime, requestTimeout) * 1000,
    keepAliveTimeout: idleTimeoutOf(options) * 1000,
    // By default, Node checks every 30 s, so a timeout of 10 s could take 40 s.
    connectionsCheckingInterval: Math.min(1000, requestTimeout * 250),
  }
}
