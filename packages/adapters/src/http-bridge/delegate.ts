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
