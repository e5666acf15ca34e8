import * as v from 'valibot'
import { OAuthError } from '../errors/oauth-error.ts'
import type { MaybePromise } from '../json.ts'
import type { Runtime } from '../runtime.ts'

/**
 * An unstorage driver with the one operation that unstorage cannot express and single use needs.
 *
 * @see docs/storage-schema.md
 */
export interface AtomicDriver {
  readonly name?: string
  getItem(key: string): MaybePromise<unknown>
  setItem(key: string, value: string, options: { ttl: number }): MaybePromise<void>
  removeItem(key: string, options: object): MaybePromise<void>
  /**
   * Creates the item only when it is absent. `true` when this call created it. Atomic across every process that shares the
   * store. `ttl` is in whole seconds, at least 1.
   */
  insertItem(key: string, value: string, options: { ttl: number }): MaybePromise<boolean>
  dispose?(): MaybePromise<void>
}

/** Where the core keeps what must outlive a request. Every method rejects with `temporarily_unavailable` when the driver fails. */
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

/** Version 1 of the envelope around every record. */
const envelopeSchema = v.object({ version: v.literal(1), expiresAt: v.number(), value: v.unknown() })

const unavailable = (cause: unknown): OAuthError =>
  new OAuthError('temporarily_unavailable', 'The service is temporarily unavailable', {
    reason: 'storage_failed',
    cause,
    retryAfter: 1,
  })

function parseEnvelope(stored: unknown): v.InferOutput<typeof envelopeSchema> | undefined {
  let candidate = stored
  if (typeof stored === 'string') {
    try {
      candidate = JSON.parse(stored)
    } catch {
      return undefined
    }
  }
  const result = v.safeParse(envelopeSchema, candidate)
  return result.success ? result.output : undefined
}

/**
 * @param onRejected hears of a record that counts as absent because it is none of ours, with its kind (the key's first part).
 */
export function openStore(driver: AtomicDriver, runtime: Runtime, onRejected: (kind: string) => void): Store {
  const reject = (key: string): undefined => {
    onRejected(key.slice(0, key.indexOf(':')))
    return undefined
  }
  const read = async (key: string): Promise<unknown> => {
    let stored: unknown
    try {
      stored = await driver.getItem(key)
    } catch (cause) {
      throw unavailable(cause)
    }
    // Some unstorage drivers return an error instead of throwing it.
    if (stored instanceof Error) throw unavailable(stored)
    return stored ?? undefined
  }
  const encode = (value: unknown, expiresAt: number): string => JSON.stringify({ version: 1, expiresAt, value })
  // The driver's expiry only cleans up; whether a record counts is decided from `expiresAt` when it is read.
  const options = (expiresAt: number): { ttl: number } => ({ ttl: Math.max(1, Math.ceil(expiresAt - runtime.now())) })

  return {
    async get(key, schema) {
      const stored = await read(key)
      if (stored === undefined) return undefined
      const envelope = parseEnvelope(stored)
      if (envelope === undefined) return reject(key)
      if (envelope.expiresAt <= runtime.now()) return undefined
      const record = v.safeParse(schema, envelope.value)
      return record.success ? record.output : reject(key)
    },
    async has(key) {
      const stored = await read(key)
      if (stored === undefined) return false
      const envelope = parseEnvelope(stored)
      if (envelope === undefined) reject(key)
      return envelope === undefined || envelope.expiresAt > runtime.now()
    },
    async getMarker(key, schema, unreadable) {
      const stored = await read(key)
      if (stored === undefined) return undefined
      const envelope = parseEnvelope(stored)
      if (envelope !== undefined && envelope.expiresAt <= runtime.now()) return undefined
      const record = v.safeParse(schema, envelope?.value)
      if (record.success) return record.output
      reject(key)
      return unreadable
    },
    async put(key, value, expiresAt) {
      try {
        await driver.setItem(key, encode(value, expiresAt), options(expiresAt))
      } catch (cause) {
        throw unavailable(cause)
      }
    },
    async insert(key, value, expiresAt) {
      try {
        return (await driver.insertItem(key, encode(value, expiresAt), options(expiresAt))) === true
      } catch (cause) {
        throw unavailable(cause)
      }
    },
    async delete(key) {
      try {
        await driver.removeItem(key, {})
      } catch (cause) {
        throw unavailable(cause)
      }
    },
  }
}
