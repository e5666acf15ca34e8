import type { BodyReader } from './light-body.ts'

/** Reads a body that must be there in so many seconds, counted from its first read: neither Bun nor Deno lets a body time out that trickles. */
export class LightTimedReader {
  readonly #body: ReadableStream<Uint8Array>
  readonly #seconds: number
  #reader: BodyReader | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #failure: TypeError | undefined
  #fail: (failure: TypeError) => void = () => {}

  constructor(body: ReadableStream<Uint8Array>, seconds: number) {
    this.#body = body
    this.#seconds = seconds
  }

  get isLate(): boolean {
    return this.#failure !== undefined
  }

  read(): ReturnType<BodyReader['read']> {
    // It may have become late while nobody was reading.
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    this.#reader ??= this.#body.getReader()
    this.#timer ??= setTimeout(() => {
      this.#failure = new TypeError(`the body was not complete within ${this.#seconds} s`)
      this.#fail(this.#failure)
    }, this.#seconds * 1000)
    const reading = this.#reader.read()
    return new Promise((resolve, reject) => {
      this.#fail = reject
      reading.then(resolve, reject)
    })
  }

  /** The body is not waited for any more. */
  forget(): void {
    clearTimeout(this.#timer)
  }

  async cancel(reason?: unknown): Promise<void> {
    this.forget()
    this.#reader ??= this.#body.getReader()
    await this.#reader.cancel(reason)
  }

  releaseLock(): void {
    // A light body has one reader for its life.
  }

  get closed(): Promise<undefined> {
    this.#reader ??= this.#body.getReader()
    return this.#reader.closed.then(() => undefined)
  }
}
