// A driver that breaks one promise: what the conformance kit is for.
import type { AtomicDriver } from '@grantry/core'
import type { DriverSubject } from '@grantry/storage-drivers/conformance'
import { memoryDriver } from '@grantry/storage-drivers/memory'

export interface Broken {
  /** What is wrong with it. */
  readonly fault: string
  /** The proof that must notice. */
  readonly proof: string
  /** The sentence that must be among those of the proof. */
  readonly sentence: RegExp
  subject(): DriverSubject
}

/** Until other work had its turn. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A good driver with parts of its own. */
export const over = (parts: (good: AtomicDriver) => Partial<AtomicDriver>) => (): DriverSubject => ({
  open() {
    const good: AtomicDriver = memoryDriver()
    return { ...good, ...parts(good) }
  },
})

export const renaming = (rename: (key: string) => string) =>
  over((good) => ({
    getItem: (key) => good.getItem(rename(key)),
    setItem: (key, value, options) => good.setItem(rename(key), value, options),
    removeItem: (key, options) => good.removeItem(rename(key), options),
    insertItem: (key, value, options) => good.insertItem(rename(key), value, options),
    incrementItem: (key, options) => good.incrementItem?.(rename(key), options) ?? 0,
  }))
