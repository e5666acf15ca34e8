import { after, allOf } from '../promises.ts'
import type { MaybePromise } from '../types.ts'
import type { RecordCheck, RecordReader } from './envelope.ts'

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
