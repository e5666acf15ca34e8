import type { ProviderEvent } from '@grantry/core'

/**
 * What the server answers beside the provider's endpoints. A path that nobody knows is `unknown`: a stranger's word names nothing. `refused`: the adapter
 * has asked nobody.
 */
export type OwnEndpoint = 'health' | 'metrics' | 'demo' | 'console' | 'unknown' | 'refused'

/** The end of a request that is no endpoint's of the provider. */
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
  /** Without the query, which may hold what is nobody's to read; at most 200 characters. */
  readonly path?: string
  readonly status: number
  /** Milliseconds. */
  readonly duration: number
  readonly clientAddress?: string
}

/** Everything that the server tells its log and its metrics. */
export type ServerEvent = ProviderEvent | RequestAnswered

export type ServerObserver = (event: ServerEvent) => unknown
