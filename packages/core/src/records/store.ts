import * as v from 'valibot'
import { OAuthError } from '../errors/oauth-error.ts'
import type { MaybePromise } from '../json.ts'
import { isThenable } from '../promises.ts'
import type { Runtime } from '../runtime.ts'
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
  dispose?(): MaybePromise<void>
}

/** Where the core keeps what must outlive a request. Every method rejects with `temporarily_unavailable` when the driver fails or hangs. */
export interface Store {
  /** Absent also when it has expired by the provider's own clock, or is no record of this kind. */
  get<S extends v.GenericSchema>(key: string, schema: S): Promise<v.InferOutput<S> | undefined>
  /** Whether anything unexpired is there. What cannot be read counts as there: for markers that forbid. */
  has(key: string): Promise<boolean>
  /** As `get`, for markers that forbid: what is there and cannot be read is `unreadable`, not absent. */
  getMarker<S extends v.GenericSchema>(
    key: string,
    schema: S,
    unreadable: v.InferOutput<S>,
  ): Promise<v.InferOutput<S> | undefined>
  put(key: string, value: unknown, expiresAt: number): Promise<void>
  /** Creates only when absent; `true` when this call created it. Atomic across processes. */
  insert(key: string, value: unknown, expiresAt: number): Promise<boolean>
  delete(key: string): Promise<void>
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

const fail = (cause: unknown): never => {
  throw unavailable(cause)
}

/** Some unstorage drivers return an error instead of throwing it. */
const checked = <T>(outcome: T): T => {
  if (outcome instanceof Error) throw outcome
  return outcome
}

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
  const reject = (key: string, reason: RecordRejection): undefined => {
    onRejected(key.slice(0, key.indexOf(':')), reason)
    return undefined
  }
  /** A driver that answers at once costs no timer; one that hangs must not make a request hang. */
  const attempt = <T>(operate: () => MaybePromise<T>): MaybePromise<T> => {
    try {
      const outcome = operate()
      if (isThenable(outcome)) return withinTime(Promise.resolve(outcome), timeLimit).then(checked).catch(fail)
      return checked(outcome)
    } catch (cause) {
      return fail(cause)
    }
  }
  const read = (key: string): MaybePromise<unknown> => attempt(() => driver.getItem(key))
  const encode = (value: unknown, expiresAt: number): string => JSON.stringify({ version, expiresAt, value })
  // The driver's expiry only cleans up; whether a record counts is decided from `expiresAt` when it is read.
  const options = (expiresAt: number): { ttl: number } => ({ ttl: Math.max(1, Math.ceil(expiresAt - runtime.now())) })

  return {
    async get(key, schema) {
      const stored = await read(key)
      if (stored === undefined || stored === null) return undefined
      const envelope = parseEnvelope(stored)
      if (typeof envelope === 'string') return reject(key, envelope)
      if (envelope.expiresAt <= runtime.now()) return undefined
      const record = v.safeParse(schema, envelope.value)
      return record.success ? record.output : reject(key, 'record_malformed')
    },
    async has(key) {
      const stored = await read(key)
      if (stored === undefined || stored === null) return false
      const envelope = parseEnvelope(stored)
      if (typeof envelope === 'string') reject(key, envelope)
      return typeof envelope === 'string' || envelope.expiresAt > runtime.now()
    },
    async getMarker(key, schema, unreadable) {
      const stored = await read(key)
      if (stored === undefined || stored === null) return undefined
      const envelope = parseEnvelope(stored)
      if (typeof envelope === 'string') {
        reject(key, envelope)
        return unreadable
      }
      if (envelope.expiresAt <= runtime.now()) return undefined
      const record = v.safeParse(schema, envelope.value)
      if (record.success) return record.output
      reject(key, 'record_malformed')
      return unreadable
    },
    async put(key, value, expiresAt) {
      await attempt(() => driver.setItem(key, encode(value, expiresAt), options(expiresAt)))
    },
    async insert(key, value, expiresAt) {
      return (await attempt(() => driver.insertItem(key, encode(value, expiresAt), options(expiresAt)))) === true
    },
    async delete(key) {
      await attempt(() => driver.removeItem(key, {}))
    },
  }
}
