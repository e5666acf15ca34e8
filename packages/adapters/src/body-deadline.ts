import type { BodyDeadlines } from './body-deadlines.ts'
import { type BodyReader, delegate, LazyBody } from './http-bridge/portable.ts'
import { isReadWhole, LazyTimedReader, type WhileWaiting } from './lazy-timed-reader.ts'

/**
 * Wraps a request so that its body comes from the given reader. A real `Request` around the reader would double the
 * cost of a request (12 microseconds on Bun), so it is created only for rarely used members.
 */
export class LazyTimedRequest {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  readonly #body: LazyBody
  #real: Request | undefined

  constructor({ method, url, headers }: Request, reader: BodyReader) {
    this.method = method
    this.url = url
    this.headers = headers
    this.#body = new LazyBody(() => reader)
  }

  get body(): ReadableStream<Uint8Array> | null {
    return this.#real === undefined ? (this.#body as unknown as ReadableStream<Uint8Array>) : this.#real.body
  }

  get bodyUsed(): boolean {
    return this.#real?.bodyUsed ?? this.#body.locked
  }

  /** A real `Request` with the same body, created on first use. */
  get real(): Request {
    const { method, headers } = this
    if (this.#real === undefined) {
      // Not a copy of the whole request: that reads its signal, and Deno then warns that it also aborts after success.
      const init: RequestInit & { readonly duplex: 'half' } = { method, headers, body: this.#body.real, duplex: 'half' }
      this.#real = new Request(this.url, init)
    }
    return this.#real
  }
}

delegate(LazyTimedRequest as unknown as { prototype: LazyTimedRequest }, Request)

/** A request whose body either ends within the deadline or fails. */
export interface TimedRequest {
  readonly request: Request
  /** Whether the body missed the deadline. */
  isLate(): boolean
  cancelDeadline(): void
}

// `new Request()` rejects a body for these methods, and no endpoint reads one.
const bodiless: ReadonlySet<string> = new Set(['GET', 'HEAD', 'CONNECT', 'TRACE', 'TRACK'])

/** Wraps `request` so that reading its body fails after a deadline, counted from the first read. */
export function withBodyDeadline(request: Request, deadlines: BodyDeadlines, whileWaiting: WhileWaiting): TimedRequest {
  const isWhole = isReadWhole(request)
  // Only a body of unknown length is read as a stream, which Deno creates on the first access.
  if (bodiless.has(request.method.toUpperCase()) || (!isWhole && request.body === null))
    return { request, isLate: () => false, cancelDeadline: () => {} }
  const reader = new LazyTimedReader(request, deadlines, whileWaiting, isWhole)
  return {
    request: new LazyTimedRequest(request, reader as unknown as BodyReader) as unknown as Request,
    isLate: () => reader.isLate,
    cancelDeadline: () => reader.cancelDeadline(),
  }
}
