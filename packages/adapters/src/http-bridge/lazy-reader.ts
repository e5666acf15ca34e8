import type { IncomingMessage } from 'node:http'
import { finished } from 'node:stream/promises'
import { bufferBody, type ReadResult } from './body-buffer.ts'
import { discard, markComplete } from './last-response.ts'

/** Wraps each wait for a chunk of the body that has not arrived yet. */
export type WhileWaiting = (arrival: Promise<ReadResult>) => Promise<ReadResult>

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
