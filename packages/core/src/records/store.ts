import * as v from 'valibot'
import { OAuthError } from '../errors/oauth-error.ts'
import type { MaybePromise } from '../json.ts'
import { after, isThenable } from '../promises.ts'
import type { Runtime } from '../runtime.ts'
import { createReadiness } from './readiness.ts'
import { withinTime } from './time-limit.ts'

/**
 * An unstorage driver with the one operation that unstorage cannot express and single use needs.
 *
 * @see docs/storage-schema.md
 */
export interface AtomicDriver {
  readonly name?: string
  /** Called once, before anything else. Rejects with one sentence, what is wrong and what to do, when the storage is unfit. */
  open?(): MaybePromise<void>
  getItem(key: string): MaybePromise<unknown>
  setItem(key: string, value: string, options: { ttl: number }): MaybePromise<void>
  removeItem(key: string, options: object): MaybePromise<void>
  /**
   * Creates the item only when it is absent. `true` when this call created it. Atomic across every process that shares the
   * store. Whatever the answer, the item that is there now is as safe from a crash as the store can make it. `ttl` is in whole
   * seconds, at least 1.
   */
  insertItem(key: string, value: string, options: { ttl: number }): MaybePromise<boolean>
  /**
   * Adds one to the counter of the key and answers with the new value: 1 where there was none, or it had ended. Atomic across every process that
   * shares the store: no two callers hear the same number. `ttl`, in whole seconds, at least 1, counts from the creation; later calls do not move
   * the end. A counter may be lost in a crash. Without it there is no `abuseControl` but that of passwords.
   */
  incrementItem?(key: string, options: { ttl: number }): MaybePromise<number>
  dispose?(): MaybePromise<void>
}

/**
 * Where the core keeps what must outlive a request. Every method rejects with `temporarily_unavailable` when the driver fails or hangs. A driver that
 * answers at once is answered at once: a promise for each look costs more than the look.
 */
export interface Store {
  /** Absent also when it has expired by the provider's own clock, or is no record of this kind. */
  get<S extends v.GenericSchema>(key: string, schema: S): MaybePromise<v.InferOutput<S> | undefined>
  /** Whether anything unexpired is there. What cannot be read counts as there: for markers that forbid. */
  has(key: string): MaybePromise<boolean>
  /** As `get`, for markers that forbid: what is there and cannot be read is `unreadable`, not absent. */
  getMarker<S extends v.GenericSchema>(
    key: string,
    schema: S,
    unreadable: v.InferOutput<S>,
  ): MaybePromise<v.InferOutput<S> | undefined>
  put(key: string, value: unknown, expiresAt: number): MaybePromise<void>
  /** Creates only when absent; `true` when this call created it. Atomic across processes. */
  insert(key: string, value: unknown, expiresAt: number): MaybePromise<boolean>
  /**
   * Adds one to a counter and answers with its new value, which nobody else hears. The driver's clock ends a counter, not the provider's: what the
   * provider counts anew gets another key. Only where the driver has `incrementItem`.
   */
  increment(key: string, expiresAt: number): MaybePromise<number>
  delete(key: string): MaybePromise<void>
  /** Whether the storage can be read, and written since a write has failed. Never rejects. */
  isReady(): Promise<boolean>
}

/** The version of every record that this release writes, and the only one that it reads. */
const version = 1
/** Why a stored record counts as absent: another release wrote it, or it is torn, foreign, or not of its kind. */
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

// A rejection also where the driver throws: what is thrown in the middle of several looks would leave the others to nobody.
const fail = (cause: unknown): Promise<never> => Promise.reject(unavailable(cause))

/** Some unstorage drivers return an error instead of throwing it. */
const checked = <T>(outcome: T): T => {
  if (outcome instanceof Error) throw outcome
  return outcome
}

/** The write probe of a readiness check: larger than all records of a request. It is removed immediately, or expires after a minute. */
const probeKey = 'probe:ready'
const probeSize = 16_384
const probeLifetime = 60

const noNumber = (): Error => new Error('incrementItem() of the storage did not return a number')

/**
 * @param timeLimit seconds after which an operation counts as failed.
 * @param onRejected hears of a record that counts as absent, with its kind (the key's first part) and why.
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
  /** A driver that answers at once costs no timer; one that hangs must not make a request hang. */
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
  // The driver's expiry only cleans up; whether a record counts is decided from `expiresAt` when it is read.
  const options = (expiresAt: number): { ttl: number } => ({ ttl: Math.max(1, Math.ceil(expiresAt - runtime.now())) })

  /** The value of a live record, `undefined` where there is none, or why what is there counts as none. */
  function valueIn(key: string, stored: unknown): { readonly value: unknown } | RecordRejection | undefined {
    if (stored === undefined || stored === null) return undefined
    const envelope = parseEnvelope(stored)
    if (typeof envelope === 'string') return reject(key, envelope)
    return envelope.expiresAt > runtime.now() ? envelope : undefined
  }

  function recordIn<S extends v.GenericSchema, U>(key: string, stored: unknown, schema: S, unreadable: U) {
    const found = valueIn(key, stored)
    if (found === undefined) return undefined
    if (typeof found === 'string') return unreadable
    const record = v.safeParse(schema, found.value)
    if (record.success) return record.output
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
    read: () => read(probeKey),
    write: () =>
      after(put(probeKey, { filler: '0'.repeat(probeSize) }, runtime.now() + probeLifetime), () => remove(probeKey)),
    runtime,
  })

  return {
    get: (key, schema) => after(read(key), (stored) => recordIn(key, stored, schema, undefined)),
    has: (key) => after(read(key), (stored) => valueIn(key, stored) !== undefined),
    getMarker: (key, schema, unreadable) => after(read(key), (stored) => recordIn(key, stored, schema, unreadable)),
    put,
    insert: (key, value, expiresAt) =>
      after(
        attempt(() => driver.insertItem(key, encode(value, expiresAt), options(expiresAt)), failedWrite),
        (created) => created === true,
      ),
    increment: (key, expiresAt) =>
      after(
        attempt(() => driver.incrementItem?.(key, options(expiresAt)), failedWrite),
        (count) => (Number.isSafeInteger(count) && Number(count) > 0 ? Number(count) : fail(noNumber())),
      ),
    delete: remove,
    isReady: readiness.isReady,
  }
}
