import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { finished } from 'node:stream/promises'
import { bufferBody, type ReadResult } from './body-buffer.ts'
import { discard, markComplete } from './last-response.ts'
import { delegate, LazyBody } from './lazy-body.ts'

/** Wraps each wait for a chunk of the body that has not arrived yet. */
type WhileWaiting = (arrival: Promise<ReadResult>) => Promise<ReadResult>

const done: ReadResult = { done: true, value: undefined }
const atEnd = Promise.resolve(done)

/**
 * Whether `chunk` is the complete body. Node's parser reports the end only later: it runs microtasks in between. Bun and
 * Deno report it too early, when a read has returned only the first of several chunks.
 */
function isWholeBody(incoming: IncomingMessage, chunk: Buffer | null): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = incoming.headers
  if (encoding !== undefined || length === undefined || Number(length) !== chunk?.length) return false
  markComplete(incoming)
  return true
}

/**
 * Reads a body directly from the connection. A small body is one chunk. A larger one has several, and is read only on
 * demand. Reads reject when the connection closes before the body ends.
 *
 * This is a class because of `closed`: every object literal with an accessor gets its own hidden class, which cost
 * 8 microseconds of garbage collection per request.
 */
export class LazyReader {
  readonly #incoming: IncomingMessage
  readonly #whileWaiting: WhileWaiting
  #ended = false
  /** The complete body, if it arrived together with the request head. */
  #whole: ReadResult | undefined
  #next: (() => Promise<ReadResult>) | undefined
  /** The error that ended the body early. */
  failure: unknown

  constructor(incoming: IncomingMessage, whileWaiting: WhileWaiting) {
    this.#incoming = incoming
    this.#whileWaiting = whileWaiting
  }

  read(): Promise<ReadResult> {
    if (this.#ended) return atEnd
    return this.#next === undefined ? this.#readFirst() : this.#wait(this.#next)
  }

  /** Starts receiving the body before anything reads it. Otherwise the stream would queue one object per chunk. */
  start(): void {
    if (this.#ended || this.#whole !== undefined || this.#next !== undefined) return
    const incoming = this.#incoming
    const chunk = incoming.read() as Buffer | null
    if (isWholeBody(incoming, chunk)) this.#whole = chunk === null ? done : { done: false, value: chunk }
    else this.#next = bufferBody(incoming, chunk)
  }

  async cancel(): Promise<void> {
    this.#ended = true
    discard(this.#incoming)
  }

  releaseLock(): void {
    // A lazy body keeps the same reader.
  }

  get closed(): Promise<undefined> {
    return finished(this.#incoming, { writable: false }).then(() => undefined)
  }

  #wait(next: () => Promise<ReadResult>): Promise<ReadResult> {
    const reading = this.#whileWaiting(next())
    reading.catch((error: unknown) => {
      this.failure = error
    })
    return reading
  }

  async #readFirst(): Promise<ReadResult> {
    // Node.js reports the head before it parses the rest of the packet. One microtask later a small body is available
    // without waiting for an event.
    await undefined
    this.start()
    if (this.#next !== undefined) return this.#wait(this.#next)
    const whole = this.#whole ?? done
    this.#whole = undefined
    this.#ended = true
    return whole
  }
}

/**
 * Request headers backed by Node's header object. `get` and `has` are plain lookups; any other member of the `Headers`
 * interface first creates a real one.
 */
export class LazyHeaders {
  readonly #received: IncomingHttpHeaders
  #real: Headers | undefined

  constructor(received: IncomingHttpHeaders) {
    this.#received = received
  }

  get(name: string): string | null {
    const lower = name.toLowerCase()
    // Skips inherited properties and the pseudo-headers of HTTP/2.
    if (!Object.hasOwn(this.#received, lower) || lower.startsWith(':')) return null
    const value = this.#received[lower]
    if (value === undefined) return null
    return typeof value === 'string' ? value : value.join(', ')
  }

  has(name: string): boolean {
    return this.get(name) !== null
  }

  /** The real `Headers`, created on first use. */
  get real(): Headers {
    if (this.#real === undefined) {
      this.#real = new Headers()
      for (const [name, value] of Object.entries(this.#received)) {
        if (value === undefined || name.startsWith(':')) continue
        for (const each of typeof value === 'string' ? [value] : value) this.#real.append(name, each)
      }
    }
    return this.#real
  }
}

delegate(LazyHeaders, Headers)

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
