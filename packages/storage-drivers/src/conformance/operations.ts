import type { AtomicDriver } from '@grantry/core'
import { intercepted } from './intercepted.ts'
import { shown } from './same-value.ts'

/** A driver on the bench: every operation is bounded, and what it answers is looked at. */
export interface Operations {
  /** The driver itself, for a provider; what is written through it is removed at the end. */
  readonly driver: AtomicDriver
  /** `undefined` for what is absent. */
  get(key: string): Promise<unknown>
  /** @param ttl seconds; default an hour: longer than any proof takes */
  set(key: string, value: string, ttl?: number): Promise<void>
  insert(key: string, value: string, ttl?: number): Promise<boolean>
  /** Whether the driver has `incrementItem`. */
  readonly counts: boolean
  increment(key: string, ttl?: number): Promise<number>
  remove(key: string): Promise<void>
  /** Opens it once more. */
  reopen(): Promise<void>
  dispose(): Promise<void>
}

/** What the bench does for the operations of its drivers. */
export interface Watch {
  /** Runs it for a bounded time. @throws Error when it rejects, or does not end */
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
      const sentence = `getItem(${shown(key)}) gave an Error as the value instead of rejecting: ${found.message}`
      // Said here, because a rejection may be right where this is not.
      broken(sentence)
      throw new Error(sentence)
    },
    set: (key, value, ttl = 3600) =>
      bounded(async () => driver.setItem(key, value, { ttl }), `setItem(${shown(key)}) with a ttl of ${ttl} s`),
    async insert(key, value, ttl = 3600) {
      const what = `insertItem(${shown(key)}) with a ttl of ${ttl} s`
      const created: unknown = await bounded(async () => driver.insertItem(key, value, { ttl }), what)
      if (typeof created === 'boolean') return created
      throw new Error(`insertItem(${shown(key)}) must answer true or false and has answered ${shown(created)}`)
    },
    counts: driver.incrementItem !== undefined,
    async increment(key, ttl = 3600) {
      const what = `incrementItem(${shown(key)}) with a ttl of ${ttl} s`
      const count: unknown = await bounded(async () => driver.incrementItem?.(key, { ttl }), what)
      if (typeof count === 'number' && Number.isSafeInteger(count) && count > 0) return count
      const sentence = `incrementItem(${shown(key)}) must answer a whole number from 1 and has answered ${shown(count)}`
      // Said here, because a rejection may be right where this is not.
      broken(sentence)
      throw new Error(sentence)
    },
    remove: (key) => bounded(async () => driver.removeItem(key, {}), `removeItem(${shown(key)})`),
    reopen: () => bounded(async () => made.open?.(), 'open()'),
    dispose: () => bounded(async () => made.dispose?.(), 'dispose()'),
  }
}
