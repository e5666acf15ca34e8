import type { IncomingMessage } from 'node:http'
import { delegate } from '../delegate.ts'
import { LightReader, type WhileWaiting } from './light-reader.ts'

/** The body of a request: its reader reads the connection itself, and everything else makes a real stream of that reader first. */
export class LightBody {
  readonly #incoming: IncomingMessage
  readonly #whileWaiting: WhileWaiting
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  #real: ReadableStream | undefined

  constructor(incoming: IncomingMessage, whileWaiting: WhileWaiting) {
    this.#incoming = incoming
    this.#whileWaiting = whileWaiting
  }

  get locked(): boolean {
    return this.#real?.locked ?? this.#reader !== undefined
  }

  /** For the default reader only: a reader of another kind needs the real stream. */
  getReader(): ReadableStreamDefaultReader<Uint8Array> {
    return this.#real === undefined ? this.#lock() : this.#real.getReader()
  }

  /** @throws TypeError when the body is being read already. */
  get real(): ReadableStream {
    if (this.#real === undefined) {
      const reader = this.#lock()
      this.#real = new ReadableStream({
        async pull(controller) {
          const { done, value } = await reader.read()
          if (done) controller.close()
          else controller.enqueue(value)
        },
        cancel: () => reader.cancel(),
      })
    }
    return this.#real
  }

  #lock(): ReadableStreamDefaultReader<Uint8Array> {
    if (this.#reader !== undefined) throw new TypeError('The body is locked to a reader')
    this.#reader = new LightReader(this.#incoming, this.#whileWaiting)
    return this.#reader
  }
}

delegate(LightBody, ReadableStream)
