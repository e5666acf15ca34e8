import type { AtomicDriver } from '@grantry/core'
import { intercepted } from './intercepted.ts'
import { shown } from './same-value.ts'

/** A driver under test: every operation has a time limit, and its result is checked. */
export interface Operations {
  /** The driver, for a provider. Items written through it are removed at the end. */
  readonly driver: AtomicDriver
  /** Returns `undefined` for an absent item. */
  get(key: string): Promise<unknown>
  /** @param ttl seconds; default one hour, longer than any proof takes */
  set(key: string, value: string, ttl?: number): Promise<void>
  insert(key: string, value: string, ttl?: number): Promise<boolean>
  /** Whether the driver has `incrementItem`. */
  readonly counts: boolean
  increment(key: string, ttl?: number): Promise<number>
  remove(key: string): Promise<void>
  /** Calls `open()` again. */
  reopen(): Promise<void>
  dispose(): Promise<void>
}

/** What the bench provides for the operations of its drivers. */
export interface Watch {
  /** Runs `act` with a time limit. @throws Error when it rejects or times out */
  bounded<T>(act: () => Promise<T>, what: string): Promise<T>
  wrote(key: string): void
  broken(sentence: string): void
}

export function operationsOf(made: AtomicDriver, { bounded, wrote, broken }: Watch): Operations {
  const driver = intercepted(made, (act, operation, key) => {
    if (operation === 'setItem' || operation === 'insertItem' || operation === 'incrementItem') wrote(key)
    return act()
  })
  return {
    driver,
    async get(key) {
      const found = await bounded(async () => driver.getItem(key), `getItem(${shown(key)})`)
      if (!(found instanceof Error)) return found ?? undefined
      const sentence = `getItem(${shown(key)}) returned an Error as the value instead of rejecting: ${found.message}`
      // Recorded here, because callers may accept a rejection.
      broken(sentence)
      throw new Error(sentence)
    },
    set: (key, value, ttl = 3600) =>
      bounded(async () => driver.setItem(key, value, { ttl }), `setItem(${shown(key)}) with a ttl of ${ttl} s`),
    async insert(key, value, ttl = 3600) {
      const what = `insertItem(${shown(key)}) with a ttl of ${ttl} s`
      const created: unknown = await bounded(async () => driver.insertItem(key, value, { ttl }), what)
      if (typeof created === 'boolean') return created
      throw new Error(`insertItem(${shown(key)}) must return true or false, but returned ${shown(created)}`)
    },
    counts: driver.incrementItem !== undefined,
    async increment(key, ttl = 3600) {
      const what = `incrementItem(${shown(key)}) with a ttl of ${ttl} s`
      const count: unknown = await bounded(async () => driver.incrementItem?.(key, { ttl }), what)
      if (typeof count === 'number' && Number.isSafeInteger(count) && count > 0) return count
      const sentence = `incrementItem(${shown(key)}) must return a positive integer, but returned ${shown(count)}`
      // Recorded here, because callers may accept a rejection.
      broken(sentence)
      throw new Error(sentence)
    },
    remove: (key) => bounded(async () => driver.removeItem(key, {}), `removeItem(${shown(key)})`),
    reopen: () => bounded(async () => made.open?.(), 'open()'),
    dispose: () => bounded(async () => made.dispose?.(), 'dispose()'),
  }
}
