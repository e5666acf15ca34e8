/** An object that stands for a real one of the platform, which is made when somebody asks for more than the object has itself. */
interface Standing<T> {
  readonly real: T
}

// These reject where there is nothing to read any more; the others throw.
const readers: ReadonlySet<string | symbol> = new Set(['arrayBuffer', 'blob', 'bytes', 'formData', 'json', 'text'])

/**
 * Gives a light class everything else of the interface that it stands for: it inherits from it, so `instanceof` holds, and each member that it
 * lacks is asked of the real object.
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
