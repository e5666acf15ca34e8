import { OAuthError } from '../errors/oauth-error.ts'
import { after, allOf, isThenable } from '../promises.ts'
import type { Runtime } from '../runtime.ts'
import type { MaybePromise } from '../types.ts'
import { commitInOrder } from './commit-in-order.ts'
import type { AtomicDriver, DriverItem } from './driver.ts'
import { encodeEnvelope, type NewRecord, parseEnvelope, type RecordRejection } from './envelope.ts'
import { keysOf, type Lookups, type ResultsOf, resultsOf } from './lookup.ts'
import { createReadiness } from './readiness.ts'
import { createRecordReader, type RecordCheck } from './record-reader.ts'

const malformedItems = (): TypeError =>
  new TypeError(
    'getItems() must return { key, value } once for each key; correct it, or omit it, because it is optional',
  )

/** Returns the values in the order of the keys. */
function valuesOf(keys: readonly string[], items: unknown): readonly unknown[] {
  if (!Array.isArray(items) || items.length !== keys.length) throw malformedItems()
  return keys.map((key, index) => {
    const item = items[index]?.key === key ? items[index] : items.find((candidate) => candidate?.key === key)
    // A marker that the driver omits may exist, so it must not count as absent.
    if (item === undefined || !('value' in item) || isThenable(item.value)) throw malformedItems()
    // Some unstorage drivers return errors instead of throwing them.
    if (item.value instanceof Error) throw item.value
    return item.value
  })
}

/**
 * Reads items with `getItems()`, and returns their values in the order of the keys.
 *
 * @throws TypeError when the driver does not return each item once.
 */
export const getValues = (driver: AtomicDriver, keys: readonly string[]): MaybePromise<readonly unknown[]> =>
  after<unknown, readonly unknown[]>(driver.getItems?.(keys.map((key) => ({ key }))), (items) => valuesOf(keys, items))

/** Records that are written together. */
export interface RecordChanges {
  /** Records that must not exist yet. A random value in each distinguishes it from that of another commit. */
  readonly create?: readonly NewRecord[] | undefined
  readonly put?: readonly NewRecord[] | undefined
  /** Keys. */
  readonly remove?: readonly string[] | undefined
}

/**
 * The record store. Every method rejects with `temporarily_unavailable` when the driver fails or times out. The result
 * is synchronous if that of the driver is: a promise costs more than an in-memory lookup.
 */
export interface Store {
  /** Returns `undefined` if the record is absent, has expired by the provider's clock, or does not pass the check. */
  get<T>(key: string, check: RecordCheck<T>): MaybePromise<T | undefined>
  /**
   * Whether an unexpired record exists. A record that cannot be parsed counts as existing: use it for markers that
   * forbid something.
   */
  has(key: string): MaybePromise<boolean>
  /** Like `get`, for markers that forbid something: returns `unreadable` if the record exists but cannot be parsed. */
  getMarker<T>(key: string, check: RecordCheck<T>, unreadable: T): MaybePromise<T | undefined>
  /** Performs several lookups in one trip, if the driver has `getItems()`. */
  getAll<const L extends Lookups>(lookups: L): MaybePromise<ResultsOf<L>>
  /** Whether the driver still has a record that has expired by the provider's clock. */
  hasExpired(key: string): MaybePromise<boolean>
  /** @param expiresAt epoch seconds */
  put(key: string, value: unknown, expiresAt: number): MaybePromise<void>
  /** Creates the record only if it is absent. Returns `true` if this call created it. Atomic across processes. */
  insert(key: string, value: unknown, expiresAt: number): MaybePromise<boolean>
  /**
   * Increments a counter and returns its new value, which no other call returns. Counters expire by the driver's clock,
   * not by the provider's, so a new counting period needs a new key.
   */
  increment(key: string, expiresAt: number): MaybePromise<number>
  delete(key: string): MaybePromise<void>
  /**
   * Performs all changes, or none if a record in `create` exists. Returns keys of those that exist. Atomic across
   * processes, also in a crash, if the driver has `commit()`.
   */
  commit(changes: RecordChanges): MaybePromise<readonly string[]>
  /** Whether the storage can be read, and, after a failed write, written. Never rejects. */
  isReady(): Promise<boolean>
}

const unavailable = (cause: unknown): OAuthError =>
  new OAuthError('temporarily_unavailable', 'The service is temporarily unavailable', {
    reason: 'storage_failed',
    cause,
    retryAfter: 1,
  })

// Rejects even if the driver throws synchronously: a throw between concurrent operations would leave the others
// unhandled.
const fail = (cause: unknown): Promise<never> => Promise.reject(unavailable(cause))

/**
 * The write probe of `isReady`: larger than all records of a request. It is removed immediately, or expires after a
 * minute.
 */
const probeKey = 'probe:ready'
const probeSize = 16_384
const probeLifetime = 60

const noKeys = (): Error => new Error('commit() of the storage returned neither true nor the keys that exist')
const noNumber = (): Error => new Error('incrementItem() of the storage did not return a number')

/**
 * Returns the result of a storage operation, or rejects after a time limit. A later result is ignored.
 *
 * @param seconds the time limit.
 * @throws Error when the operation takes longer.
 */
export function withinTime<T>(operation: Promise<T>, seconds: number): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const late = (): void => reject(new Error(`The storage did not respond within ${seconds} s`))
    const timer = setTimeout(late, seconds * 1000)
    const inTime =
      <U>(settle: (outcome: U) => void) =>
      (outcome: U): void => {
        clearTimeout(timer)
        settle(outcome)
      }
    // Not `finally`: it creates three promises, and every operation of the storage passes here.
    operation.then(inTime(resolve), inTime(reject))
  })
}

/**
 * @param timeLimit seconds after which an operation counts as failed.
 * @param onRejected called for a record that is treated as absent, with its kind (the first part of the key) and the
 * reason.
 */
export function openStore(
  driver: AtomicDriver,
  deps: {
    readonly runtime: Runtime
    readonly timeLimit: number
    readonly onRejected: (kind: string, reason: RecordRejection) => void
  },
): Store {
  const { runtime, timeLimit, onRejected } = deps
  const reader = createRecordReader(runtime, onRejected)
  /** Runs a driver operation with a time limit. A synchronous result needs no timer. */
  const attempt = <T>(operate: () => MaybePromise<T>, failed = fail): MaybePromise<T> => {
    // Some unstorage drivers return an error instead of throwing it.
    const checked = (outcome: T): MaybePromise<T> => (outcome instanceof Error ? failed(outcome) : outcome)
    try {
      const outcome = operate()
      if (isThenable(outcome)) return withinTime(Promise.resolve(outcome), timeLimit).then(checked, failed)
      return checked(outcome)
    } catch (cause) {
      return failed(cause)
    }
  }
  const failedWrite = (cause: unknown): Promise<never> => {
    readiness.writeFailed()
    return fail(cause)
  }
  const read = (key: string): MaybePromise<unknown> => attempt(() => driver.getItem(key))
  const readAll = (keys: readonly string[]): MaybePromise<readonly unknown[]> =>
    driver.getItems === undefined || keys.length < 2 ? allOf(keys.map(read)) : attempt(() => getValues(driver, keys))
  // The driver's expiry only frees space; `expiresAt` determines on read whether a record is valid.
  const options = (expiresAt: number): { ttl: number } => ({ ttl: Math.max(1, Math.ceil(expiresAt - runtime.now())) })

  const itemOf = ({ key, value, expiresAt }: NewRecord): DriverItem => ({
    key,
    value: encodeEnvelope({ expiresAt, value }),
    ...options(expiresAt),
  })
  const setItem = ({ key, value, ttl }: DriverItem): MaybePromise<void> =>
    after(
      attempt(() => driver.setItem(key, value, { ttl }), failedWrite),
      () => undefined,
    )
  const insertItem = ({ key, value, ttl }: DriverItem): MaybePromise<boolean> =>
    after(
      attempt(() => driver.insertItem(key, value, { ttl }), failedWrite),
      (created) => created === true,
    )
  const removeItem = (key: string): MaybePromise<void> =>
    after(
      attempt(() => driver.removeItem(key, {}), failedWrite),
      () => undefined,
    )
  // Some drivers return parsed JSON.
  const isStored = ({ key, value }: DriverItem): MaybePromise<boolean> =>
    after(read(key), (stored) => (typeof stored === 'string' ? stored : JSON.stringify(stored)) === value)
  const operations = { setItem, insertItem, removeItem, isStored }

  const readiness = createReadiness({
    read: async () => read(probeKey),
    async write() {
      const expiresAt = runtime.now() + probeLifetime
      await setItem(itemOf({ key: probeKey, value: { filler: '0'.repeat(probeSize) }, expiresAt }))
      await removeItem(probeKey)
    },
    runtime,
  })

  return {
    get: (key, check) => after(read(key), (stored) => reader.recordIn(key, stored, check, undefined)),
    has: (key) => after(read(key), (stored) => reader.isIn(key, stored)),
    getMarker: (key, check, unreadable) =>
      after(read(key), (stored) => reader.recordIn(key, stored, check, unreadable)),
    getAll: (lookups) => after(readAll(keysOf(lookups)), (stored) => resultsOf(lookups, stored, 0, reader)),
    hasExpired: (key) =>
      after(read(key), (stored) => {
        const envelope = parseEnvelope(stored)
        return typeof envelope !== 'string' && envelope.expiresAt <= runtime.now()
      }),
    put: (key, value, expiresAt) => setItem(itemOf({ key, value, expiresAt })),
    insert: (key, value, expiresAt) => insertItem(itemOf({ key, value, expiresAt })),
    increment: (key, expiresAt) =>
      after(
        attempt(() => driver.incrementItem(key, options(expiresAt)), failedWrite),
        (count) => (Number.isSafeInteger(count) && count > 0 ? count : fail(noNumber())),
      ),
    delete: removeItem,
    commit({ create = [], put = [], remove = [] }) {
      const changes = { create: create.map(itemOf), put: put.map(itemOf), remove }
      // One write is atomic by itself, and costs less than a transaction.
      const isOne = create.length + put.length + remove.length <= 1
      if (isOne && create.length === 0)
        return after(allOf([...changes.put.map(setItem), ...remove.map(removeItem)]), () => [])
      if (isOne || driver.commit === undefined) return commitInOrder(changes, operations)
      const performed = attempt(() => driver.commit?.(changes), failedWrite)
      return after(performed, (outcome) => {
        if (outcome === true) return []
        const existing = create.flatMap(({ key }) => (Array.isArray(outcome) && outcome.includes(key) ? [key] : []))
        if (existing.length === 0) return fail(noKeys())
        return after(allOf(changes.create.map(isStored)), (stored) => (stored.every(Boolean) ? [] : existing))
      })
    },
    isReady: readiness.isReady,
  }
}
