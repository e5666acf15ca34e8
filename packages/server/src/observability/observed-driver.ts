import type { AtomicDriver } from '@grantry/core'

/** Hears that an operation of the store begins; what it returns hears how it ended. */
export type OperationObserver = (operation: string) => (failed: boolean) => void

// Once per process: neither is an operation.
const notObserved: ReadonlySet<string | symbol> = new Set(['open', 'dispose', 'constructor'])

/** Names of all members, also inherited ones, but not what every object has. */
function membersOf(driver: object): ReadonlySet<string | symbol> {
  const names = new Set<string | symbol>()
  for (let each: unknown = driver; each !== null && each !== Object.prototype; each = Object.getPrototypeOf(each)) {
    for (const name of Reflect.ownKeys(each as object)) names.add(name)
  }
  names.delete('constructor')
  return names
}

const isThenable = (outcome: unknown): outcome is Promise<unknown> =>
  typeof (outcome as { readonly then?: unknown } | null | undefined)?.then === 'function'

/**
 * A driver that does what this one does, with every member that it has, and tells how long each operation takes. What answers at once still answers
 * at once, and what it answers is passed on as it is: no promise, no turn of the event loop comes in between.
 */
export function observedDriver<D extends AtomicDriver>(driver: D, begin: OperationObserver): D {
  const observed = (operation: string, method: (...parameters: unknown[]) => unknown) => {
    return (...parameters: unknown[]): unknown => {
      const end = begin(operation)
      let outcome: unknown
      try {
        outcome = Reflect.apply(method, driver, parameters)
      } catch (error) {
        end(true)
        throw error
      }
      if (isThenable(outcome)) {
        outcome.then(
          // Some unstorage drivers return an error instead of throwing it.
          (value) => end(value instanceof Error),
          () => end(true),
        )
      } else end(outcome instanceof Error)
      return outcome
    }
  }
  // No Proxy: it may not show another value where a driver is frozen.
  const wrapped = {}
  for (const name of membersOf(driver)) {
    const value: unknown = Reflect.get(driver, name)
    if (typeof value === 'function' && typeof name === 'string' && !notObserved.has(name)) {
      Object.defineProperty(wrapped, name, { enumerable: true, value: observed(name, value as () => unknown) })
    } else if (typeof value === 'function') {
      Object.defineProperty(wrapped, name, { enumerable: true, value: value.bind(driver) })
    } else Object.defineProperty(wrapped, name, { enumerable: true, get: () => Reflect.get(driver, name) })
  }
  return wrapped as D
}
