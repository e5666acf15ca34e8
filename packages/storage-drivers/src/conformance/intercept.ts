import type { AtomicDriver } from '@grantry/core'

export type Operation = 'getItem' | 'setItem' | 'removeItem' | 'insertItem' | 'incrementItem'

/** Wraps an operation: it can delay or skip it, or withhold its result. */
export type Interceptor = <T>(act: () => Promise<T>, operation: Operation, key: string) => Promise<T>

/**
 * Returns the driver with a wrapper around each operation, without `open` and `dispose`: the caller manages the
 * original.
 */
export function interceptOperations(driver: AtomicDriver, around: Interceptor): AtomicDriver {
  return {
    name: driver.name ?? 'unnamed',
    getItem: (key) => around(async () => driver.getItem(key), 'getItem', key),
    setItem: (key, value, options) => around(async () => driver.setItem(key, value, options), 'setItem', key),
    removeItem: (key, options) => around(async () => driver.removeItem(key, options), 'removeItem', key),
    insertItem: (key, value, options) => around(async () => driver.insertItem(key, value, options), 'insertItem', key),
    incrementItem: (key, options) => around(async () => driver.incrementItem(key, options), 'incrementItem', key),
  }
}
