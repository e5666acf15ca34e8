import type { IncomingMessage, ServerResponse } from 'node:http'
import { delegate } from '../delegate.ts'
import { LightBody } from '../light-body.ts'
import { discard } from './connection.ts'
import { LightHeaders } from './light-headers.ts'
import { LightReader, type WhileWaiting } from './light-reader.ts'

const bodyless: ReadonlySet<string> = new Set(['GET', 'HEAD'])

/**
 * A cheap `Request` whose method, URL, headers and body are backed by Node's own objects. Other members, such as
 * `text()` or `clone()`, create a real `Request` and forward to it.
 *
 * The platform does not accept it: instead of `new Request(light)` or `fetch(light)`, pass the result of `clone()`.
 */
export class LightRequest {
  readonly method: string
  readonly url: string
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse
  /** Set to observe each wait for a chunk of the body. */
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

  /** Starts receiving the body, so that it takes no more memory than its bytes even if its handler reads it late. */
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
      headers: (this.headers as unknown as LightHeaders).real,
      signal: this.signal,
      ...(!bodyless.has(this.method) && { body: (this.body as unknown as LightBody).real, duplex: 'half' }),
    } as RequestInit)
    return this.#real
  }
}

delegate(LightRequest as unknown as { prototype: LightRequest }, Request)
