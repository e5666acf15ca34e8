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
 * Like `Promise.all`, but synchronous if no value is a promise, and one `.then` if only one is: `Promise.all` makes two
 * promises for each value, and costs more than most in-memory lookups.
 */
export function allOf<T extends readonly unknown[]>(
  values: readonly [...{ [Index in keyof T]: MaybePromise<T[Index]> }],
): MaybePromise<T> {
  let pending: Promise<unknown> | undefined
  for (const value of values) {
    if (!isThenable(value)) continue
    if (pending !== undefined) return Promise.all(values) as unknown as Promise<T>
    pending = value
  }
  if (pending === undefined) return values as unknown as T
  return pending.then((result) => values.map((value) => (value === pending ? result : value)) as unknown as T)
}
