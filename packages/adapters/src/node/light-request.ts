import type { IncomingMessage, ServerResponse } from 'node:http'
import { delegate } from '../delegate.ts'
import { LightBody } from '../light-body.ts'
import { discard } from './connection.ts'
import { LightHeaders } from './light-headers.ts'
import { LightReader, type WhileWaiting } from './light-reader.ts'

const bodyless: ReadonlySet<string> = new Set(['GET', 'HEAD'])

/**
 * A `Request` that costs little: method, URL, headers and body are those of Node's own objects. Whatever else is asked of it, `text()` or
 * `clone()`, is asked of a real `Request`, made at that moment.
 *
 * It is no `Request` for the platform itself: `new Request(light)` and `fetch(light)` do not know it; pass them what `clone()` gives.
 */
export class LightRequest {
  readonly method: string
  readonly url: string
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse
  /** Set where the waits for parts of the body must be known. */
  whileWaiting: WhileWaiting = (arrival) => arrival
  #headers: LightHeaders | undefined
  #reader: LightReader | undefined
  #body: LightBody | undefined
  #abort: AbortController | undefined
  #real: Request | undefined

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, url: string) {
    this.method = incoming.method ?? 'GET'
    this.url = url
    this.#incoming = incoming
    this.#outgoing = outgoing
  }

  get headers(): Headers {
    this.#headers ??= new LightHeaders(this.#incoming.headers)
    return this.#headers as unknown as Headers
  }

  get body(): ReadableStream | null {
    if (bodyless.has(this.method)) return null
    this.#body ??= new LightBody(() => this.#openReader())
    return this.#real === undefined ? (this.#body as unknown as ReadableStream) : this.#real.body
  }

  /** Starts to take in an announced body, so that it takes no more memory than its bytes however late its handler reads it. */
  receiveBody(): void {
    const { headers, httpVersionMajor } = this.#incoming
    const length = headers['content-length']
    if (
      httpVersionMajor === 1 &&
      headers['transfer-encoding'] === undefined &&
      (length === undefined || length === '0')
    )
      return
    if (bodyless.has(this.method)) discard(this.#incoming)
    else this.#openReader().start()
  }

  #openReader(): LightReader {
    this.#reader ??= new LightReader(this.#incoming, (arrival) => this.whileWaiting(arrival))
    return this.#reader
  }

  get bodyUsed(): boolean {
    return this.#real?.bodyUsed ?? this.#body?.locked ?? false
  }

  /** Whether a handler failed with this because the client has gone. */
  isDisconnect(error: unknown): boolean {
    return error !== undefined && (error === this.#reader?.failure || error === this.#abort?.signal.reason)
  }

  /** Aborted when the connection ends before the answer does. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      const abort = new AbortController()
      this.#abort = abort
      const gone = (): void => {
        if (!this.#outgoing.writableFinished) abort.abort(new DOMException('The client has gone', 'AbortError'))
      }
      const { socket } = this.#incoming
      // A client that goes ends its half first. It could be one that still listens, so it is answered all the same.
      if (this.#incoming.httpVersionMajor === 1) socket.once('end', gone)
      // Of the response: the request is closed as soon as its body has been read.
      this.#outgoing.once('close', () => {
        socket.off('end', gone)
        gone()
      })
    }
    return this.#abort.signal
  }

  /** @throws TypeError when the body was read already. */
  get real(): Request {
    this.#real ??= new Request(this.url, {
      method: this.method,
      headers: (this.headers as unknown as LightHeaders).real,
      signal: this.signal,
      ...(!bodyless.has(this.method) && { body: (this.body as unknown as LightBody).real, duplex: 'half' }),
    } as RequestInit)
    return this.#real
  }
}

delegate(LightRequest as unknown as { prototype: LightRequest }, Request)
