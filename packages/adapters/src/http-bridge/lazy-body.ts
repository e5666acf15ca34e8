/** A lazy substitute for a platform object. `real` creates the platform object on first use. */
interface Lazy<T> {
  readonly real: T
}

// An error of `real` must reject the promise that a body method returns; all other methods throw it.
const bodyMethods: ReadonlySet<string | symbol> = new Set(['arrayBuffer', 'blob', 'bytes', 'formData', 'json', 'text'])

/**
 * Adds the missing members of a platform class (`Request`, `Response`) to a lazy class, each of which forwards to `real`,
 * and makes it inherit from the platform class, so that `instanceof` works.
 */
export function delegate<T extends object>(lazy: { prototype: Lazy<T> }, platform: { prototype: T }): void {
  const { prototype } = lazy
  for (const name of Reflect.ownKeys(platform.prototype)) {
    if (Object.hasOwn(prototype, name)) continue
    const descriptor = Object.getOwnPropertyDescriptor(platform.prototype, name)
    if (descriptor === undefined) continue
    const { get, value, enumerable = false } = descriptor
    if (get !== undefined) {
      Object.defineProperty(prototype, name, {
        configurable: true,
        enumerable,
        get(this: Lazy<T>) {
          return Reflect.get(this.real, name)
        },
      })
    } else if (typeof value === 'function') {
      Object.defineProperty(prototype, name, {
        configurable: true,
        enumerable,
        writable: true,
        value: bodyMethods.has(name)
          ? async function (this: Lazy<T>, ...parameters: unknown[]): Promise<unknown> {
              return Reflect.apply(value, this.real, parameters)
            }
          : function (this: Lazy<T>, ...parameters: unknown[]): unknown {
              return Reflect.apply(value, this.real, parameters)
            },
      })
    }
  }
  Object.setPrototypeOf(prototype, platform.prototype)
}

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
