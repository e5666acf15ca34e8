import type { ProviderEvent } from '@grantry/core'

/** What the server serves beside the provider's endpoints. `refused`: the adapter refused the request before it reached a handler. */
export type OwnEndpoint = 'health' | 'metrics' | 'demo' | 'console' | 'refused'

/** The end of a request that the provider did not see. */
export interface RequestAnswered {
  readonly type: 'request_answered'
  readonly id: string
  readonly requestId: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  /** Epoch seconds. */
  readonly time: number
  readonly endpoint: OwnEndpoint
  readonly httpMethod: string
  /** The path of the route; absent for `refused`. A path that a caller chose is in no event: it may hold a token. */
  readonly route?: string
  readonly status: number
  /** Milliseconds. */
  readonly duration: number
  readonly clientAddress?: string
}

/** Everything that the server tells its log and its metrics. */
export type ServerEvent = ProviderEvent | RequestAnswered

export type ServerObserver = (event: ServerEvent) => unknown
