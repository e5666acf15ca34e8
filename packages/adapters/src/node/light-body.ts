import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import { createBodyReader } from './body-reader.ts'
import { delegate } from './delegate.ts'

/** The body of a request: its reader reads the connection itself, anything else makes a real stream of it first. */
export class LightBody {
  readonly #incoming: IncomingMessage
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  #real: NodeReadableStream | undefined

  constructor(incoming: IncomingMessage) {
    this.#incoming = incoming
  }

  get locked(): boolean {
    return this.#reader !== undefined || this.#real?.locked === true
  }

  getReader(options?: object): ReadableStreamDefaultReader<Uint8Array> {
    if (this.#real !== undefined || options !== undefined) {
      return Reflect.apply<ReadableStream, [object | undefined], ReadableStreamDefaultReader<Uint8Array>>(
        ReadableStream.prototype.getReader as never,
        this.real,
        [options],
      )
    }
    if (this.#reader !== undefined) throw new TypeError('The body is locked to a reader')
    this.#reader = createBodyReader(this.#incoming)
    return this.#reader
  }

  /** @throws TypeError when the body is being read already. */
  get real(): ReadableStream {
    if (this.#reader !== undefined) throw new TypeError('The body is locked to a reader')
    this.#real ??= Readable.toWeb(this.#incoming) as NodeReadableStream
    return this.#real as ReadableStream
  }
}

delegate(LightBody, ReadableStream)
