import type { IncomingMessage, ServerResponse } from 'node:http'
import { delegate } from './delegate.ts'
import { discard } from './last-response.ts'
import { LazyBody } from './lazy-body.ts'
import { LazyHeaders } from './lazy-headers.ts'
import { LazyReader, type WhileWaiting } from './lazy-reader.ts'

const bodiless: ReadonlySet<string> = new Set(['GET', 'HEAD'])

/**
 * A cheap `Request` whose method, URL, headers and body are backed by Node's own objects. Other members, such as
 * `text()` or `clone()`, create a real `Request` and forward to it.
 *
 * The platform does not accept it: instead of `new Request(lazy)` or `fetch(lazy)`, pass the result of `clone()`.
 */
export class LazyRequest {
  readonly method: string
  readonly url: string
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse
  /** Set to observe each wait for a chunk of the body. */
  whileWaiting: WhileWaiting = (arrival) => arrival
  #headers: LazyHeaders | undefined
  #reader: LazyReader | undefined
  #body: LazyBody | undefined
  #abort: AbortController | undefined
  #real: Request | undefined

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, url: string) {
    this.method = incoming.method ?? 'GET'
    this.url = url
    this.#incoming = incoming
    this.#outgoing = outgoing
  }

  get headers(): Headers {
    this.#headers ??= new LazyHeaders(this.#incoming.headers)
    return this.#headers as unknown as Headers
  }

  get body(): ReadableStream | null {
    if (bodiless.has(this.method)) return null
    this.#body ??= new LazyBody(() => this.#openReader())
    return this.#real === undefined ? (this.#body as unknown as ReadableStream) : this.#real.body
  }

  /** Starts receiving the body, so that it takes no more memory than its bytes even if its handler reads it late. */
  receiveBody(): void {
    const { 'content-length': length = '0', 'transfer-encoding': encoding } = this.#incoming.headers
    if (this.#incoming.httpVersionMajor === 1 && encoding === undefined && length === '0') return
    if (bodiless.has(this.method)) discard(this.#incoming)
    else this.#openReader().start()
  }

  #openReader(): LazyReader {
    this.#reader ??= new LazyReader(this.#incoming, (arrival) => this.whileWaiting(arrival))
    return this.#reader
  }

  get bodyUsed(): boolean {
    return this.#real?.bodyUsed ?? this.#body?.locked ?? false
  }

  /** Whether a handler failed with `error` because the client disconnected. */
  isDisconnect(error: unknown): boolean {
    return error !== undefined && (error === this.#reader?.failure || error === this.#abort?.signal.reason)
  }

  /** Aborts when the connection ends before the response does. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      const abort = new AbortController()
      this.#abort = abort
      const gone = (): void => {
        if (!this.#outgoing.writableFinished) abort.abort(new DOMException('The client disconnected', 'AbortError'))
      }
      const { socket } = this.#incoming
      // A client that disconnects half-closes first. It may still read, so the response is sent anyway.
      if (this.#incoming.httpVersionMajor === 1) socket.once('end', gone)
      // Listens on the response, because the request closes as soon as its body has been read.
      this.#outgoing.once('close', () => {
        socket.off('end', gone)
        gone()
      })
    }
    return this.#abort.signal
  }

  /** @throws TypeError when the body was already read. */
  get real(): Request {
    this.#real ??= new Request(this.url, {
      method: this.method,
      headers: (this.headers as unknown as LazyHeaders).real,
      signal: this.signal,
      ...(!bodiless.has(this.method) && { body: (this.body as unknown as LazyBody).real, duplex: 'half' }),
    } as RequestInit)
    return this.#real
  }
}

delegate(LazyRequest as unknown as { prototype: LazyRequest }, Request)
