import type { ProviderEvent } from '@grantry/core'
import type { TenantEvent } from '@grantry/core/tenants'

/** A route of the server itself. `refused`: the adapter refused the request before it reached a handler. */
export type ServerEndpoint = 'health' | 'metrics' | 'demo' | 'console' | 'home' | 'outbox' | 'refused'

/** A completed request that the provider did not handle. */
export interface RequestAnswered {
  readonly type: 'request_answered'
  readonly id: string
  readonly requestId: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  /** Epoch seconds. */
  readonly time: number
  readonly endpoint: ServerEndpoint
  readonly httpMethod: string
  /** The path of the route; absent for `refused`. Events never contain another path, because it can contain a token. */
  readonly route?: string
  readonly status: number
  /** Milliseconds. */
  readonly duration: number
  readonly clientAddress?: string
}

/** The end of an attempt to read the configuration again. */
export interface ConfigurationRead {
  readonly type: 'configuration_reloaded' | 'configuration_refused'
  readonly id: string
  readonly requestId: string
  readonly traceId: string
  readonly spanId: string
  /** Epoch seconds. */
  readonly time: number
  readonly endpoint?: undefined
  /** Why it was refused. */
  readonly reason?: ReloadRefusal
  /** One sentence for the operator; for a mistake, with the path of the member. */
  readonly message: string
}

/**
 * `invalid`: a start would refuse the configuration, too. `restart_needed`: a member differs that a running process
 * cannot change. `stopping`: the server was stopping.
 */
export type ReloadRefusal = 'invalid' | 'restart_needed' | 'stopping'

/** A tenant was opened by its first request, or closed. A tenant that cannot be opened is an `unhandled_failure`. */
export interface TenantChanged {
  readonly type: 'tenant_opened' | 'tenant_closed'
  readonly id: string
  readonly requestId: string
  readonly traceId: string
  readonly spanId: string
  /** Epoch seconds. */
  readonly time: number
  readonly endpoint?: undefined
  readonly tenant: string
  /** Why it was closed. */
  readonly reason?: TenantEvent['reason']
  /** Milliseconds that it took to open it. */
  readonly duration?: number
}

/** An event for the log and the metrics. */
export type ServerEvent = ProviderEvent | RequestAnswered | ConfigurationRead | TenantChanged

export type ServerObserver = (event: ServerEvent) => unknown
