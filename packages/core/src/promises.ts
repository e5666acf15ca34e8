// Only for the record store, the ports of the host, the runtime and what combines them for each request. All other functions await.
// See docs/measurements.md (40).
import type { MaybePromise } from './types.ts'

/** Also true for promises of another realm or of a promise library. */
export const isThenable = <T>(outcome: MaybePromise<T>): outcome is Promise<T> =>
  typeof (outcome as { readonly then?: unknown } | null | undefined)?.then === 'function'

/** Like `.then`, but synchronous for plain values. */
export const after = <T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> =>
  isThenable(value) ? value.then(next) : next(value)

/**
 * Like `Promise.all`, but synchronous if no value is a promise: `Promise.all` costs more than most in-memory lookups.
 */
export const allOf = <T extends readonly unknown[]>(
  values: readonly [...{ [Index in keyof T]: MaybePromise<T[Index]> }],
): MaybePromise<T> =>
  values.some(isThenable) ? (Promise.all(values) as unknown as Promise<T>) : (values as unknown as T)
