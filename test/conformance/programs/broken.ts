// Drivers that break one promise each, to test the conformance kit.
import type { AtomicDriver } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import type { DriverSubject } from '@grantry/testing/drivers'

export interface Broken {
  /** The fault of the driver. */
  readonly fault: string
  /** The proof that must detect it. */
  readonly proof: string
  /** A message that the proof must report. */
  readonly sentence: RegExp
  subject(): DriverSubject
}

/** Yields to other work. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/**
 * A correct driver with some methods replaced. Without `commit()`, unless it is among them: the provider would use it
 * instead of the others.
 */
export const over = (parts: (good: AtomicDriver) => Partial<AtomicDriver>) => (): DriverSubject => ({
  open() {
    const good: AtomicDriver = memoryDriver()
    return { ...good, commit: undefined, ...parts(good) }
  },
})

export const renaming = (rename: (key: string) => string) =>
  over((good) => ({
    getItem: (key) => good.getItem(rename(key)),
    setItem: (key, value, options) => good.setItem(rename(key), value, options),
    removeItem: (key, options) => good.removeItem(rename(key), options),
    insertItem: (key, value, options) => good.insertItem(rename(key), value, options),
    incrementItem: (key, options) => good.incrementItem(rename(key), options),
    replaceItem: (key, change) => good.replaceItem(rename(key), change),
  }))
