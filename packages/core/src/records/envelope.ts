import { after, allOf } from '../promises.ts'
import type { Runtime } from '../runtime.ts'
import { type Schema, validate } from '../standard-schema.ts'
import type { MaybePromise } from '../types.ts'

/** The record version that this release writes. It reads no other version. */
const version = 1

/**
 * Why a stored record is treated as absent: another release wrote it, or it is incomplete, of foreign origin, or of the
 * wrong kind.
 */
export type RecordRejection = 'version_unknown' | 'record_malformed'

/** How a plugin writes a record. */
export interface RecordOptions {
  /**
   * Keep the record when an operator has restored an old copy of the storage (`grantry storage recover`). For what belongs
   * to accounts, such as a link or a factor, and for marks that something is used up. Never for what gives access, or can
   * be used once: in the copy, what was used later is unused. Default: the record is removed.
   */
  readonly keptAfterRestore?: true | undefined
}

/** What a stored record contains around its value. */
interface Envelope {
  /** Epoch seconds. */
  readonly expiresAt: number
  readonly value: unknown
}

/** A record to write. */
export interface NewRecord<T = unknown> extends Envelope, RecordOptions {
  readonly value: T
  readonly key: string
}

export const encodeEnvelope = ({ expiresAt, keptAfterRestore: kept, value }: Envelope & RecordOptions): string =>
  JSON.stringify({ version, expiresAt, kept, value })

export function parseEnvelope(stored: unknown): Envelope | RecordRejection {
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

/** A type guard for the records that requests read, which is faster; a schema for other records and for those of plugins. */
export type RecordCheck<T> = ((value: unknown) => value is T) | Schema<T>

/** Interprets what the storage has under a key: `null` or `undefined` if there is nothing. */
export interface RecordReader {
  /**
   * Returns `undefined` if the record is absent or has expired by the provider's clock, and `unreadable` if it cannot be
   * parsed or does not pass the check.
   */
  recordIn<T, U>(key: string, stored: unknown, check: RecordCheck<T>, unreadable: U): MaybePromise<T | U | undefined>
  /** Whether an unexpired record exists. A record that cannot be parsed counts as existing. */
  isIn(key: string, stored: unknown): boolean
}

/** @param onRejected called for a record that cannot be used, with its kind (the first part of the key) and the reason. */
export function createRecordReader(
  runtime: Pick<Runtime, 'now'>,
  onRejected: (kind: string, reason: RecordRejection) => void,
): RecordReader {
  const reject = (key: string, reason: RecordRejection): RecordRejection => {
    onRejected(key.slice(0, key.indexOf(':')), reason)
    return reason
  }

  /** Returns the envelope of an unexpired record, `undefined` if there is none, or why the stored value is rejected. */
  function valueIn(key: string, stored: unknown): { readonly value: unknown } | RecordRejection | undefined {
    if (stored === undefined || stored === null) return undefined
    const envelope = parseEnvelope(stored)
    if (typeof envelope === 'string') return reject(key, envelope)
    return envelope.expiresAt > runtime.now() ? envelope : undefined
  }

  return {
    recordIn(key, stored, check, unreadable) {
      const envelope = valueIn(key, stored)
      if (envelope === undefined) return undefined
      if (typeof envelope === 'string') return unreadable
      if (!('~standard' in check)) {
        if (check(envelope.value)) return envelope.value
        reject(key, 'record_malformed')
        return unreadable
      }
      return after(validate(check, envelope.value), (result) => {
        if (result.issues === undefined) return result.value as never
        reject(key, 'record_malformed')
        return unreadable
      })
    },
    isIn: (key, stored) => valueIn(key, stored) !== undefined,
  }
}

/** Records to look up, and what they mean. `Store.getAll` performs several lookups in one trip to the storage. */
export interface Lookup<T> {
  readonly keys: readonly string[]
  /**
   * @param stored what the storage has under the keys of several lookups
   * @param start the index of the first key of this lookup
   */
  resultOf(stored: readonly unknown[], start: number, reader: RecordReader): MaybePromise<T>
}

/** `undefined` and `false` look up nothing; their result is `undefined`. */
export type Lookups = readonly (Lookup<unknown> | undefined | false)[]

type ResultOf<L> = L extends Lookup<infer T> ? T : undefined
export type ResultsOf<L extends Lookups> = { -readonly [Index in keyof L]: ResultOf<L[Index]> }

/** Looks up a record: `undefined` if it is absent, has expired by the provider's clock, or does not pass the check. */
export const recordAt = <T>(key: string, check: RecordCheck<T>): Lookup<T | undefined> => ({
  keys: [key],
  resultOf: (stored, at, reader) => reader.recordIn(key, stored[at], check, undefined),
})

/** Looks up a marker that forbids something: `unreadable` if it exists but cannot be parsed. */
export const markerAt = <T>(key: string, check: RecordCheck<T>, unreadable: T): Lookup<T | undefined> => ({
  keys: [key],
  resultOf: (stored, at, reader) => reader.recordIn(key, stored[at], check, unreadable),
})

/** Looks up whether an unexpired record exists. A record that cannot be parsed counts as existing. */
export const existenceAt = (key: string): Lookup<boolean> => ({
  keys: [key],
  resultOf: (stored, at, reader) => reader.isIn(key, stored[at]),
})

export function keysOf(lookups: Lookups): readonly string[] {
  const keys: string[] = []
  for (const lookup of lookups) if (lookup) keys.push(...lookup.keys)
  return keys
}

/** @param start the index in `stored` of the first of `keysOf(lookups)` */
export function resultsOf<const L extends Lookups>(
  lookups: L,
  stored: readonly unknown[],
  start: number,
  reader: RecordReader,
): MaybePromise<ResultsOf<L>> {
  let at = start
  const results: unknown[] = []
  for (const lookup of lookups) {
    results.push(lookup ? lookup.resultOf(stored, at, reader) : undefined)
    if (lookup) at += lookup.keys.length
  }
  return allOf(results) as MaybePromise<ResultsOf<L>>
}

/** Returns a lookup whose result is computed from those of others. */
export const combined = <const L extends Lookups, T>(
  lookups: L,
  combine: (results: ResultsOf<L>) => MaybePromise<T>,
): Lookup<T> => ({
  keys: keysOf(lookups),
  resultOf: (stored, start, reader) => after(resultsOf(lookups, stored, start, reader), combine),
})
