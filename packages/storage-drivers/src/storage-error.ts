import type { MaybePromise } from '@grantry/core'

/** The error of a driver that cannot use its files. @param sentence what is wrong, and what to do */
export const storageError = (sentence: string, cause?: unknown): Error => new Error(`storage: ${sentence}`, { cause })

/** Turns a synchronous throw, of a malformed argument, into a rejection. */
export function rejecting<T>(operate: () => MaybePromise<T>): MaybePromise<T> {
  try {
    return operate()
  } catch (error) {
    return Promise.reject(error)
  }
}
