import type { AtomicDriver } from '@grantry/core'

/** Called when a storage operation starts. Returns a function that is called when it ends. */
export type OperationObserver = (operation: string) => (failed: boolean) => void

// Lifecycle methods are called once per process, and the states are for operators.
const notObserved: ReadonlySet<string | symbol> = new Set([
  'open',
  'dispose',
  'sweepState',
  'serverState',
  'constructor',
])

/** Returns the names of all own and inherited members, except those of `Object.prototype`. */
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
 * Wraps a driver and reports the start and end of each operation. The wrapper has every member of the driver and returns
 * its results unchanged: synchronous operations stay synchronous.
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
  // Not a Proxy: it must return the original members of a frozen driver.
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
