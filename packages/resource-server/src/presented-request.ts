/** The part of a request that is checked. Each `Request` has it. */
export interface PresentedRequest {
  readonly method: string
  /** Absolute. Its path is the one that was received, neither decoded nor normalized. */
  readonly url: string
  readonly headers: Headers
  /** The request or context of the framework, in a middleware. */
  readonly source?: unknown
}
