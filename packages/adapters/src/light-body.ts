import { delegate } from './delegate.ts'

export type BodyReader = ReadableStreamDefaultReader<Uint8Array>

/** The body of a request that is read through a reader of ours; everything else makes a real stream of that reader first. */
export class LightBody {
  readonly #open: () => BodyReader
  #reader: BodyReader | undefined
  #real: ReadableStream | undefined

  constructor(open: () => BodyReader) {
    this.#open = open
  }

  get locked(): boolean {
    return this.#real?.locked ?? this.#reader !== undefined
  }

  /** For the default reader only: a reader of another kind needs the real stream. */
  getReader(): BodyReader {
    return this.#real === undefined ? this.#lock() : this.#real.getReader()
  }

  /** @throws TypeError when the body is being read already. */
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
        // Nothing is read ahead: the provider stops at its limit.
        { highWaterMark: 0 },
      )
    }
    return this.#real
  }

  #lock(): BodyReader {
    if (this.#reader !== undefined) throw new TypeError('The body is locked to a reader')
    this.#reader = this.#open()
    return this.#reader
  }
}

delegate(LightBody, ReadableStream)
