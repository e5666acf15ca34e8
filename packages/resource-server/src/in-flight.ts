import { withTimeout } from './json-fetch.ts'

/** Calls `start`, or waits for the result of a call with the same key that is in progress. */
export type InFlight<T> = (key: string, start: () => Promise<T>) => Promise<T>

/**
 * Lets concurrent callers share a result.
 *
 * @param maxWait seconds after which a caller gets an error, and the next one starts again: a Worker cancels a request
 * whose client has left, with its fetches and timers, and then its result never comes
 */
export function createInFlight<T>(maxWait: number): InFlight<T> {
  const pending = new Map<string, Promise<T>>()
  return async (key, start) => {
    const waitedFor = pending.get(key) ?? start()
    pending.set(key, waitedFor)
    try {
      return await withTimeout(waitedFor, maxWait)
    } finally {
      if (pending.get(key) === waitedFor) pending.delete(key)
    }
  }
}
