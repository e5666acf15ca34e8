import type { BodyReader } from './http-bridge/portable.ts'

type ReadResult = Awaited<ReturnType<BodyReader['read']>>

/** Wraps each wait for a chunk of the body. */
export type WhileWaiting = (arrival: Promise<ReadResult>) => Promise<ReadResult>

// Deno allocates 64 KiB for each read of a default reader, even for one byte: 60,000 one-byte chunks took gigabytes.
// Reading into our own buffer avoids that, but then Deno does not report a body that breaks off (measured with 2.9.5:
// the body runs into the deadline instead). So only bodies with many chunks are read that way.
const largeReads = 16
const smallBuffer = 4096
const isDeno = 'Deno' in globalThis

/** Reads a body within a number of seconds, counted from the first read. Neither Bun nor Deno times out a slow body. */
export class LazyTimedReader {
  readonly #body: ReadableStream<Uint8Array>
  readonly #seconds: number
  readonly #whileWaiting: WhileWaiting
  #reader: BodyReader | undefined
  #reads = 0
  #byteReader: ReadableStreamBYOBReader | undefined
  #buffer: ArrayBuffer | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #failure: TypeError | undefined
  #fail: (failure: TypeError) => void = () => {}

  constructor(body: ReadableStream<Uint8Array>, seconds: number, whileWaiting: WhileWaiting) {
    this.#body = body
    this.#seconds = seconds
    this.#whileWaiting = whileWaiting
  }

  get isLate(): boolean {
    return this.#failure !== undefined
  }

  read(): Promise<ReadResult> {
    // The deadline may have passed between two reads.
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    this.#timer ??= setTimeout(() => {
      this.#failure = new TypeError(`The request body did not arrive within ${this.#seconds} s`)
      this.#fail(this.#failure)
    }, this.#seconds * 1000)
    const reading = this.#readChunk()
    const timedRead = new Promise<ReadResult>((resolve, reject) => {
      this.#fail = reject
      reading.then(resolve, reject)
    })
    return this.#whileWaiting(timedRead)
  }

  /** Cancels the deadline. */
  cancelDeadline(): void {
    clearTimeout(this.#timer)
  }

  async cancel(reason?: unknown): Promise<void> {
    this.cancelDeadline()
    await this.#open().cancel(reason)
  }

  releaseLock(): void {
    // A lazy body keeps the same reader.
  }

  get closed(): Promise<undefined> {
    return this.#open().closed.then(() => undefined)
  }

  #open(): BodyReader | ReadableStreamBYOBReader {
    this.#reader ??= this.#body.getReader()
    return this.#byteReader ?? this.#reader
  }

  #readChunk(): Promise<ReadResult> {
    this.#reader ??= this.#body.getReader()
    this.#reads += 1
    return isDeno && this.#reads > largeReads ? this.#readSmallChunk(this.#reader) : this.#reader.read()
  }

  async #readSmallChunk(reader: BodyReader): Promise<ReadResult> {
    if (this.#byteReader === undefined) {
      reader.releaseLock()
      try {
        this.#byteReader = this.#body.getReader({ mode: 'byob' })
      } catch {
        // A stream of the host, not a body from Deno's server.
        this.#reads = Number.NEGATIVE_INFINITY
        this.#reader = this.#body.getReader()
        return this.#reader.read()
      }
    }
    const { done, value } = await this.#byteReader.read(new Uint8Array(this.#buffer ?? new ArrayBuffer(smallBuffer)))
    if (done || value === undefined) return { done: true, value: undefined }
    this.#buffer = value.buffer
    return { done, value: value.slice() }
  }
}
