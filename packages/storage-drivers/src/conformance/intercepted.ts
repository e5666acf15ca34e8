import type { AtomicDriver } from '@grantry/core'

export type Operation = 'getItem' | 'setItem' | 'removeItem' | 'insertItem'

/** Stands around an operation: it may delay it, leave it out, or keep its answer back. */
export type Around = <T>(act: () => Promise<T>, operation: Operation, key: string) => Promise<T>

/** The driver with something around each of its operations. It is open already, and is disposed of elsewhere. */
export function intercepted(driver: AtomicDriver, around: Around): AtomicDriver {
  return {
    name: driver.name ?? 'unnamed',
    getItem: (key) => around(async () => driver.getItem(key), 'getItem', key),
    setItem: (key, value, options) => around(async () => driver.setItem(key, value, options), 'setItem', key),
    removeItem: (key, options) => around(async () => driver.removeItem(key, options), 'removeItem', key),
    insertItem: (key, value, options) => around(async () => driver.insertItem(key, value, options), 'insertItem', key),
  }
}
