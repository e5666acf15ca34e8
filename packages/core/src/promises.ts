import type { MaybePromise } from './json.ts'

/** Also a promise of another realm, or of a library of its own. */
export const isThenable = <T>(outcome: MaybePromise<T>): outcome is Promise<T> =>
  typeof (outcome as { readonly then?: unknown } | null | undefined)?.then === 'function'

/** Goes on with an answer: now, where it is there already, and later where it is to come. */
export const after = <T, R>(answer: MaybePromise<T>, next: (answer: T) => MaybePromise<R>): MaybePromise<R> =>
  isThenable(answer) ? answer.then(next) : next(answer)

/**
 * `Promise.all`, which costs more than most of what it waits for, only where something is still to come: a directory in memory and a driver that
 * answers at once have nothing to wait for.
 */
export const allOf = <T extends readonly unknown[]>(
  answers: readonly [...{ [Index in keyof T]: MaybePromise<T[Index]> }],
): MaybePromise<T> =>
  answers.some(isThenable) ? (Promise.all(answers) as unknown as Promise<T>) : (answers as unknown as T)
