/** A light substitute for a platform object. `real` creates the platform object on first use. */
interface Standing<T> {
  readonly real: T
}

// These reject when the body was already read; the other methods throw.
const readers: ReadonlySet<string | symbol> = new Set(['arrayBuffer', 'blob', 'bytes', 'formData', 'json', 'text'])

/**
 * Completes a light class with the rest of the platform interface: it inherits from the platform class, so
 * `instanceof` works, and forwards every missing member to the real object.
 */
export function delegate<T extends object>(light: { prototype: Standing<T> }, platform: { prototype: T }): void {
  const own = light.prototype
  for (const name of Reflect.ownKeys(platform.prototype)) {
    if (Object.hasOwn(own, name)) continue
    const descriptor = Object.getOwnPropertyDescriptor(platform.prototype, name)
    if (descriptor === undefined) continue
    const { get, value, enumerable = false } = descriptor
    if (get !== undefined) {
      Object.defineProperty(own, name, {
        configurable: true,
        enumerable,
        get(this: Standing<T>) {
          return Reflect.get(this.real, name)
        },
      })
    } else if (typeof value === 'function') {
      Object.defineProperty(own, name, {
        configurable: true,
        enumerable,
        writable: true,
        value: readers.has(name)
          ? async function (this: Standing<T>, ...parameters: unknown[]): Promise<unknown> {
              return Reflect.apply(value, this.real, parameters)
            }
          : function (this: Standing<T>, ...parameters: unknown[]): unknown {
              return Reflect.apply(value, this.real, parameters)
            },
      })
    }
  }
  Object.setPrototypeOf(own, platform.prototype)
}
