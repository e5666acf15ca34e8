/** The part of a request that is checked. Each `Request` has it. */
export interface PresentedRequest {
  readonly method: string
  /** Absolute. Its path is the one that was received, neither decoded nor normalized. */
  readonly url: string
  readonly headers: Headers
  /** The request or context of the framework, in a middleware. */
  readonly source?: unknown
  /**
   * The same object in all checks of a request, and in those of no other request: together they use up one proof.
   * Default: the object with these members, such as the `Request`.
   */
  readonly identity?: object | undefined
}
