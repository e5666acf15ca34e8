import { OAuthError } from '@grantry/core'

/** Limits how many tasks run concurrently and how many wait. Further tasks are refused with 503. */
export function createConcurrencyLimit(limits: { readonly concurrent: number; readonly queued: number }) {
  let running = 0
  const waiting: (() => void)[] = []

  return async <T>(task: () => Promise<T>): Promise<T> => {
    if (running >= limits.concurrent) {
      if (waiting.length >= limits.queued) {
        throw new OAuthError('temporarily_unavailable', 'The service is busy, try again', {
          reason: 'password_queue_full',
          retryAfter: 1,
        })
      }
      // The finished task that resolves this promise passes on its slot, so `running` does not change.
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else {
      running += 1
    }
    try {
      return await task()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}
