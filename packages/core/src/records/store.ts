import * as v from 'valibot'
import { OAuthError } from '../errors/oauth-error.ts'
import { after, isThenable } from '../promises.ts'
import type { Runtime } from '../runtime.ts'
import type { MaybePromise } from '../types.ts'
import { createReadiness } from './readiness.ts'

/**
 * An unstorage driver with an atomic insert, which single-use credentials require, and an atomic counter, which limits
 * on guessing require. unstorage defines neither.
 *
 * @see docs/storage-schema.md
 */
export interface AtomicDriver {
  readonly name?: string | undefined
  /**
   * Called once, before any other method. Rejects if the storage is unsuitable, with a sentence that says what is wrong
   * and how to fix it.
   */
  readonly open?: (() => MaybePromise<void>) | undefined
  getItem(key: string): MaybePromise<unknown>
  /**
   * Sets the item. Must perform the write at most once, even if the reply is lost: a write that is performed again can
   * undo a later revocation.
   */
  setItem(key: string, value: string, options: { ttl: number }): MaybePromise<void>
  removeItem(key: string, options: object): MaybePromise<void>
  /**
   * Creates the item only if it is absent. Returns `true` if this call created it. Must be atomic across all processes
   * that share the storage. When it returns, with either result, the stored item must be as durable as the storage
   * allows.
   *
   * @param options `ttl`: whole seconds, at least 1
   */
  insertItem(key: string, value: string, options: { ttl: number }): MaybePromise<boolean>
  /**
   * Increments a counter and returns the new value: 1 if it did not exist or had expired. Must be atomic across all
   * processes that share the storage: no two calls return the same value. A counter may be lost in a crash.
   *
   * @param options `ttl`: whole seconds, at least 1, from the creation of the counter; later calls do not extend it
   */
  incrementItem(key: string, options: { ttl: number }): MaybePromise<number>
  readonly dispose?: (() => MaybePromise<void>) | undefined
}

/** A type guard for the records that requests read, which is faster; a schema for other records and for those of plugins. */
export type RecordCheck<T> = ((value: unknown) => value is T) | v.GenericSchema<unknown, T>

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
  /** Whether the storage can be read, and, after a failed write, written. Never rejects. */
  isReady(): Promise<boolean>
}

/** The record version that this release writes. It reads no other version. */
const version = 1
/**
 * Why a stored record is treated as absent: another release wrote it, or it is incomplete, of foreign origin, or of the
 * wrong kind.
 */
export type RecordRejection = 'version_unknown' | 'record_malformed'

const unavailable = (cause: unknown): OAuthError =>
  new OAuthError('temporarily_unavailable', 'The service is temporarily unavailable', {
    reason: 'storage_failed',
    cause,
    retryAfter: 1,
  })

interface Envelope {
  readonly expiresAt: number
  readonly value: unknown
}

function parseEnvelope(stored: unknown): Envelope | RecordRejection {
  let candidate = stored
  if (typeof stored === 'string') {
    try {
      candidate = JSON.parse(stored)
    } catch {
      return 'record_malformed'
    }
  }
  if (typeof candidate !== 'object' || candidate === null) return 'record_malformed'
  const { version: written, expiresAt, value } = candidate as Readonly<Record<string, unknown>>
  if (typeof written === 'number' && written !== version) return 'version_unknown'
  return written === version && typeof expiresAt === 'number' ? { expiresAt, value } : 'record_malformed'
}

// Rejects even if the driver throws synchronously: a throw between concurrent operations would leave the others
// unhandled.
const fail = (cause: unknown): Promise<never> => Promise.reject(unavailable(cause))

/** Some unstorage drivers return an error instead of throwing it. */
const checked = <T>(outcome: T): T => {
  if (outcome instanceof Error) throw outcome
  return outcome
}

/**
 * The write probe of `isReady`: larger than all records of a request. It is removed immediately, or expires after a
 * minute.
 */
const probeKey = 'probe:ready'
const probeSize = 16_384
const probeLifetime = 60

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
    operation.then(resolve, reject).finally(() => clearTimeout(timer))
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
  const reject = (key: string, reason: RecordRejection): RecordRejection => {
    onRejected(key.slice(0, key.indexOf(':')), reason)
    return reason
  }
  /** Runs a driver operation with a time limit. A synchronous result needs no timer. */
  const attempt = <T>(operate: () => MaybePromise<T>, failed = fail): MaybePromise<T> => {
    try {
      const outcome = operate()
      if (isThenable(outcome)) return withinTime(Promise.resolve(outcome), timeLimit).then(checked).catch(failed)
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
  const encode = (value: unknown, expiresAt: number): string => JSON.stringify({ version, expiresAt, value })
  // The driver's expiry only frees space; `expiresAt` determines on read whether a record is valid.
  const options = (expiresAt: number): { ttl: number } => ({ ttl: Math.max(1, Math.ceil(expiresAt - runtime.now())) })

  /** Returns the envelope of an unexpired record, `undefined` if there is none, or why the stored value is rejected. */
  function valueIn(key: string, stored: unknown): { readonly value: unknown } | RecordRejection | undefined {
    if (stored === undefined || stored === null) return undefined
    const envelope = parseEnvelope(stored)
    if (typeof envelope === 'string') return reject(key, envelope)
    return envelope.expiresAt > runtime.now() ? envelope : undefined
  }

  function recordIn<T, U>(key: string, stored: unknown, check: RecordCheck<T>, unreadable: U) {
    const found = valueIn(key, stored)
    if (found === undefined) return undefined
    if (typeof found === 'string') return unreadable
    if (typeof check === 'function') {
      if (check(found.value)) return found.value
    } else {
      const record = v.safeParse(check, found.value)
      if (record.success) return record.output
    }
    reject(key, 'record_malformed')
    return unreadable
  }

  const put: Store['put'] = (key, value, expiresAt) =>
    after(
      attempt(() => driver.setItem(key, encode(value, expiresAt), options(expiresAt)), failedWrite),
      () => undefined,
    )
  const remove = (key: string): MaybePromise<void> =>
    after(
      attempt(() => driver.removeItem(key, {}), failedWrite),
      () => undefined,
    )
  const readiness = createReadiness({
    read: async () => read(probeKey),
    async write() {
      await put(probeKey, { filler: '0'.repeat(probeSize) }, runtime.now() + probeLifetime)
      await remove(probeKey)
    },
    runtime,
  })

  return {
    get: (key, check) => after(read(key), (stored) => recordIn(key, stored, check, undefined)),
    has: (key) => after(read(key), (stored) => valueIn(key, stored) !== undefined),
    getMarker: (key, check, unreadable) => after(read(key), (stored) => recordIn(key, stored, check, unreadable)),
    put,
    insert: (key, value, expiresAt) =>
      after(
        attempt(() => driver.insertItem(key, encode(value, expiresAt), options(expiresAt)), failedWrite),
        (created) => created === true,
      ),
    increment: (key, expiresAt) =>
      after(
        attempt(() => driver.incrementItem(key, options(expiresAt)), failedWrite),
        (count) => (Number.isSafeInteger(count) && count > 0 ? count : fail(noNumber())),
      ),
    delete: remove,
    isReady: readiness.isReady,
  }
}
