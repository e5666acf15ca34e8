import { delegate } from './delegate.ts'

export type BodyReader = ReadableStreamDefaultReader<Uint8Array>

/** A request body with its own reader. Any other use of the stream interface first creates a real stream from it. */
export class LazyBody {
  readonly #open: () => BodyReader
  #reader: BodyReader | undefined
  #real: ReadableStream | undefined

  constructor(open: () => BodyReader) {
    this.#open = open
  }

  get locked(): boolean {
    return this.#real?.locked ?? this.#reader !== undefined
  }

  /** Returns the default reader. Other kinds of readers need the real stream. */
  getReader(): BodyReader {
    return this.#real === undefined ? this.#lock() : this.#real.getReader()
  }

  /** @throws TypeError when the body already has a reader. */
  get real(): ReadableStream {
    if (this.#real === undefined) {
      const reader = this.#lock()
      this.#real = new ReadableStream(
        {
          async pull(controller) {
            const { done, value } = await reader.read()
            if (done) controller.close()
            else controller.enqueue(value)
          },
          cancel: () => reader.cancel(),
        },
        // Do not read ahead: a handler stops reading at its size limit.
        { highWaterMark: 0 },
      )
    }
    return this.#real
  }

  #lock(): BodyReader {
    if (this.#reader !== undefined) throw new TypeError('The body is already locked to a reader')
    this.#reader = this.#open()
    return this.#reader
  }
}

delegate(LazyBody, ReadableStream)
