import { OAuthError } from '../errors/oauth-error.ts'
import { after, allOf, isThenable } from '../promises.ts'
import type { Runtime } from '../runtime.ts'
import type { MaybePromise } from '../types.ts'
import type { AtomicDriver, DriverItem } from './driver.ts'
import { encodeEnvelope, type NewRecord } from './envelope.ts'
import { createReadiness } from './readiness.ts'

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

const unavailable = (cause: unknown): OAuthError =>
  new OAuthError('temporarily_unavailable', 'The service is temporarily unavailable', {
    reason: 'storage_failed',
    cause,
    retryAfter: 1,
  })

// Rejects even if the driver throws synchronously: a throw between concurrent operations would leave the others
// unhandled.
export const failed = (cause: unknown): Promise<never> => Promise.reject(unavailable(cause))

/**
 * The write probe of `isReady`: larger than all records of a request. It is removed immediately, or expires after a
 * minute.
 */
const probeKey = 'probe:ready'
const probeSize = 16_384
const probeLifetime = 60

/** Returns the text that was stored: some drivers return parsed JSON. */
export const textOf = (stored: unknown): string => (typeof stored === 'string' ? stored : JSON.stringify(stored))

const noNumber = (): Error => new Error('incrementItem() of the storage did not return a number')

/** Passes on the outcome of a storage operation, or that it takes longer than the time limit. A later outcome is ignored. */
function settleWithin<T>(
  seconds: number,
  operation: Promise<T>,
  succeed: (value: T) => void,
  fail: (cause: unknown) => void,
): void {
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    fail(new Error(`The storage did not respond within ${seconds} s`))
  }, seconds * 1000)
  const inTime =
    <U>(settle: (outcome: U) => void) =>
    (outcome: U): void => {
      if (isLate) return
      clearTimeout(timer)
      settle(outcome)
    }
  // Not `finally`: it creates three promises, and every operation of the storage passes here.
  operation.then(inTime(succeed), inTime(fail))
}

/**
 * Returns the result of a storage operation, or rejects after a time limit. A later result is ignored.
 *
 * @param seconds the time limit.
 * @throws Error when the operation takes longer.
 */
export const withinTime = <T>(operation: Promise<T>, seconds: number): Promise<T> =>
  new Promise((resolve, reject) => settleWithin(seconds, operation, resolve, reject))

/** Creates the function that runs a driver operation with a time limit. A synchronous result needs no timer. */
function createAttempt(timeLimit: number) {
  return <T>(operate: () => MaybePromise<T>, whenFailed = failed): MaybePromise<T> => {
    try {
      const outcome = operate()
      // Some unstorage drivers return an error instead of throwing it.
      if (outcome instanceof Error) return whenFailed(outcome)
      if (!isThenable(outcome)) return outcome
      const pending = Promise.resolve(outcome)
      return new Promise((resolve) =>
        settleWithin(
          timeLimit,
          pending,
          (value) => resolve(value instanceof Error ? whenFailed(value) : value),
          (cause) => resolve(whenFailed(cause)),
        ),
      )
    } catch (cause) {
      return whenFailed(cause)
    }
  }
}

/** The operations of a driver, with a time limit, and with the failures of the store. */
export function createDriverCalls(
  driver: AtomicDriver,
  { runtime, timeLimit }: { readonly runtime: Runtime; readonly timeLimit: number },
) {
  const attempt = createAttempt(timeLimit)
  const failedWrite = (cause: unknown): Promise<never> => {
    readiness.writeFailed()
    return failed(cause)
  }
  const write = <T>(operate: () => MaybePromise<T>): MaybePromise<T> => attempt(operate, failedWrite)
  const read = (key: string): MaybePromise<unknown> => attempt(() => driver.getItem(key))
  const readAll = (keys: readonly string[]): MaybePromise<readonly unknown[]> =>
    driver.getItems === undefined || keys.length < 2 ? allOf(keys.map(read)) : attempt(() => getValues(driver, keys))
  // The driver's expiry only frees space; `expiresAt` determines on read whether a record is valid.
  const ttlOf = (expiresAt: number): number => Math.max(1, Math.ceil(expiresAt - runtime.now()))

  const itemOf = (record: NewRecord): DriverItem => ({
    key: record.key,
    value: encodeEnvelope(record),
    ttl: ttlOf(record.expiresAt),
  })
  const setItem = ({ key, value, ttl }: DriverItem): MaybePromise<void> =>
    after(
      write(() => driver.setItem(key, value, { ttl })),
      () => undefined,
    )
  const insertItem = ({ key, value, ttl }: DriverItem): MaybePromise<boolean> =>
    after(
      write(() => driver.insertItem(key, value, { ttl })),
      (created) => created === true,
    )
  const replaceItem = ({ key, value, ttl }: DriverItem, from: string): MaybePromise<boolean> =>
    after(
      write(() => driver.replaceItem(key, { from, to: value, ttl })),
      (replaced) => replaced === true,
    )
  const removeItem = (key: string): MaybePromise<void> =>
    after(
      write(() => driver.removeItem(key, {})),
      () => undefined,
    )
  const isStored = ({ key, value }: DriverItem): MaybePromise<boolean> =>
    after(read(key), (stored) => textOf(stored) === value)

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
    read,
    readAll,
    itemOf,
    setItem,
    insertItem,
    replaceItem,
    removeItem,
    isStored,
    /** Runs an operation that writes nothing. */
    run: attempt,
    write,
    increment: (key: string, expiresAt: number): MaybePromise<number> =>
      after(
        write(() => driver.incrementItem(key, { ttl: ttlOf(expiresAt) })),
        (count) => (Number.isSafeInteger(count) && count > 0 ? count : failed(noNumber())),
      ),
    isReady: readiness.isReady,
  }
}
