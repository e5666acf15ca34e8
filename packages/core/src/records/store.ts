import { OAuthError } from '../errors/oauth-error.ts'
import { after, allOf, isThenable } from '../promises.ts'
import type { Runtime } from '../runtime.ts'
import type { MaybePromise } from '../types.ts'
import {
  type CommitRecords,
  createCommitRecords,
  type NewMarker,
  type NewRecord,
  type RecordChanges,
} from './commit-records.ts'
import type { AtomicDriver, DriverItem } from './driver.ts'
import { encodeEnvelope, parseEnvelope, type RecordRejection } from './envelope.ts'
import { getValues } from './get-values.ts'
import { keysOf, type Lookups, type ResultsOf, resultsOf } from './lookup.ts'
import { createReadiness } from './readiness.ts'
import { createRecordReader, type RecordCheck } from './record-reader.ts'
import { isObject } from './schemas.ts'

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
  /** Atomic across processes, also in a crash, if the driver has `commit()`. */
  readonly commit: CommitRecords
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
  const putRecord = (record: NewRecord): MaybePromise<void> =>
    after(
      attempt(() => {
        const { key, value, ttl } = itemOf(record)
        return driver.setItem(key, value, { ttl })
      }, failedWrite),
      () => undefined,
    )
  const insertRecord = (record: NewRecord): MaybePromise<boolean> =>
    after(
      attempt(() => {
        const { key, value, ttl } = itemOf(record)
        return driver.insertItem(key, value, { ttl })
      }, failedWrite),
      (created) => created === true,
    )
  const remove = (key: string): MaybePromise<void> =>
    after(
      attempt(() => driver.removeItem(key, {}), failedWrite),
      () => undefined,
    )
  const has = (key: string): MaybePromise<boolean> => after(read(key), (stored) => reader.isIn(key, stored))
  const isOwnMarker = ({ key, value }: NewMarker): MaybePromise<boolean> =>
    after(read(key), (stored) => {
      const envelope = parseEnvelope(stored)
      if (typeof envelope === 'string' || !isObject(envelope.value)) return false
      return 'attempt' in envelope.value && envelope.value.attempt === value.attempt
    })

  function commitAtomically({ create, put, remove: removed }: RecordChanges): MaybePromise<readonly string[]> {
    const items = { create: create.map(itemOf), put: put.map(itemOf), remove: removed }
    return after(
      attempt(() => driver.commit?.(items), failedWrite),
      (outcome) => {
        if (outcome === true) return []
        const existing = create.flatMap(({ key }) => (Array.isArray(outcome) && outcome.includes(key) ? [key] : []))
        return existing.length > 0 ? existing : fail(noKeys())
      },
    )
  }

  const readiness = createReadiness({
    read: async () => read(probeKey),
    async write() {
      const expiresAt = runtime.now() + probeLifetime
      await putRecord({ key: probeKey, value: { filler: '0'.repeat(probeSize) }, expiresAt })
      await remove(probeKey)
    },
    runtime,
  })

  return {
    get: (key, check) => after(read(key), (stored) => reader.recordIn(key, stored, check, undefined)),
    has,
    getMarker: (key, check, unreadable) =>
      after(read(key), (stored) => reader.recordIn(key, stored, check, unreadable)),
    getAll: (lookups) => after(readAll(keysOf(lookups)), (stored) => resultsOf(lookups, stored, 0, reader)),
    hasExpired: (key) =>
      after(read(key), (stored) => {
        const envelope = parseEnvelope(stored)
        return typeof envelope !== 'string' && envelope.expiresAt <= runtime.now()
      }),
    put: (key, value, expiresAt) => putRecord({ key, value, expiresAt }),
    insert: (key, value, expiresAt) => insertRecord({ key, value, expiresAt }),
    increment: (key, expiresAt) =>
      after(
        attempt(() => driver.incrementItem(key, options(expiresAt)), failedWrite),
        (count) => (Number.isSafeInteger(count) && count > 0 ? count : fail(noNumber())),
      ),
    delete: remove,
    commit: createCommitRecords({
      put: putRecord,
      insert: insertRecord,
      remove,
      has,
      isOwnMarker,
      commitAtomically: driver.commit && commitAtomically,
    }),
    isReady: readiness.isReady,
  }
}
