import type { AtomicDriver, DriverChanges } from '@grantry/core'
import { interceptOperations, keysOf } from './intercept.ts'
import { abbreviate } from './sample-records.ts'

/** A driver under test: every operation has a time limit, and its result is checked. */
export interface Operations {
  /** The driver, for a provider. Items written through it are removed at the end. */
  readonly driver: AtomicDriver
  /** Returns `undefined` for an absent item. */
  get(key: string): Promise<unknown>
  /** Reads in one call, and returns the values in the order of the keys. Only for a driver that has `getItems()`. */
  getAll(keys: readonly string[]): Promise<readonly unknown[]>
  /** @param ttl seconds; default one hour, longer than any proof takes */
  set(key: string, value: string, ttl?: number): Promise<void>
  insert(key: string, value: string, ttl?: number): Promise<boolean>
  increment(key: string, ttl?: number): Promise<number>
  remove(key: string): Promise<void>
  /** Only for a driver that has `commit()`. */
  commit(changes: DriverChanges): Promise<true | readonly string[]>
  replace(key: string, from: string, to: string, ttl?: number): Promise<boolean>
  /** Only for a driver that has `listKeys()`. */
  listKeys(base: string, page: { readonly after: string; readonly limit: number }): Promise<readonly string[]>
  /** Calls `open()` again. */
  reopen(): Promise<void>
  dispose(): Promise<void>
}

/** What the context provides for the operations of its drivers. */
export interface OperationHooks {
  /** Runs `act` with a time limit. @throws Error when it rejects or times out */
  withLimit<T>(act: () => Promise<T>, what: string): Promise<T>
  onWrite(key: string): void
  fail(message: string): void
}

/** Returns what `getItems()` returned for the keys. @throws Error unless it returned each of them once */
function valuesOf(keys: readonly string[], items: unknown): readonly unknown[] {
  const each: readonly { readonly key?: unknown; readonly value?: unknown }[] = Array.isArray(items) ? items : []
  const values = keys.map((key) => each.find((item) => item?.key === key && 'value' in item))
  if (each.length !== keys.length || values.includes(undefined)) {
    throw new Error(
      `getItems() of ${keys.length} items must return { key, value } once for each of them, but returned ${abbreviate(items)}`,
    )
  }
  return values.map((item) => item?.value)
}

export function operationsOf(rawDriver: AtomicDriver, { withLimit, onWrite, fail }: OperationHooks): Operations {
  const intercepted = interceptOperations(rawDriver, (act, operation, key) => {
    if (operation === 'setItem' || operation === 'insertItem' || operation === 'incrementItem') onWrite(key)
    return act()
  })
  const { commit } = intercepted
  const driver: AtomicDriver = {
    ...intercepted,
    ...(commit !== undefined && {
      commit(changes) {
        for (const key of keysOf(changes)) onWrite(key)
        return commit(changes)
      },
    }),
  }
  return {
    driver,
    async get(key) {
      const value = await withLimit(async () => driver.getItem(key), `getItem(${abbreviate(key)})`)
      if (!(value instanceof Error)) return value ?? undefined
      const message = `getItem(${abbreviate(key)}) returned an Error as the value instead of rejecting: ${value.message}`
      // Recorded here, because callers may accept a rejection.
      fail(message)
      throw new Error(message)
    },
    async getAll(keys) {
      const wanted = keys.map((key) => ({ key }))
      const items = await withLimit(async () => driver.getItems?.(wanted), `getItems() of ${keys.length} items`)
      return valuesOf(keys, items).map((value) => {
        if (!(value instanceof Error) && !(value instanceof Promise)) return value ?? undefined
        const form = value instanceof Error ? `an Error: ${value.message}` : 'a promise'
        throw new Error(`getItems() returned as a value ${form}; it must reject or wait instead`)
      })
    },
    set: (key, value, ttl = 3600) =>
      withLimit(async () => driver.setItem(key, value, { ttl }), `setItem(${abbreviate(key)}) with a ttl of ${ttl} s`),
    async insert(key, value, ttl = 3600) {
      const what = `insertItem(${abbreviate(key)}) with a ttl of ${ttl} s`
      const created: unknown = await withLimit(async () => driver.insertItem(key, value, { ttl }), what)
      if (typeof created === 'boolean') return created
      throw new Error(`insertItem(${abbreviate(key)}) must return true or false, but returned ${abbreviate(created)}`)
    },
    async increment(key, ttl = 3600) {
      const what = `incrementItem(${abbreviate(key)}) with a ttl of ${ttl} s`
      const count: unknown = await withLimit(async () => driver.incrementItem(key, { ttl }), what)
      if (typeof count === 'number' && Number.isSafeInteger(count) && count > 0) return count
      const message = `incrementItem(${abbreviate(key)}) must return a positive integer, but returned ${abbreviate(count)}`
      // Recorded here, because callers may accept a rejection.
      fail(message)
      throw new Error(message)
    },
    remove: (key) => withLimit(async () => driver.removeItem(key, {}), `removeItem(${abbreviate(key)})`),
    async commit(changes) {
      const what = `commit() of ${keysOf(changes).length} items`
      const outcome: unknown = await withLimit(async () => driver.commit?.(changes), what)
      if (outcome === true) return true
      const created = changes.create.map(({ key }) => key)
      if (Array.isArray(outcome) && outcome.length > 0 && outcome.every((key) => created.includes(key))) return outcome
      throw new Error(
        `commit() must return true, or an array of the keys in create that exist, but returned ${abbreviate(outcome)}`,
      )
    },
    async replace(key, from, to, ttl = 3600) {
      const what = `replaceItem(${abbreviate(key)})`
      const replaced: unknown = await withLimit(async () => driver.replaceItem(key, { from, to, ttl }), what)
      if (typeof replaced === 'boolean') return replaced
      throw new Error(`${what} must return true or false, but returned ${abbreviate(replaced)}`)
    },
    async listKeys(base, page) {
      const keys: unknown = await withLimit(async () => driver.listKeys?.(base, page), 'listKeys()')
      const isList = Array.isArray(keys) && keys.every((key) => typeof key === 'string')
      if (isList && keys.length <= page.limit) return keys
      throw new Error(`listKeys() must return at most ${page.limit} keys, but returned ${abbreviate(keys)}`)
    },
    reopen: () => withLimit(async () => rawDriver.open?.(), 'open()'),
    dispose: () => withLimit(async () => rawDriver.dispose?.(), 'dispose()'),
  }
}
