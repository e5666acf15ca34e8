import { OAuthError } from '@grantry/core'

/** Runs at most so many tasks at once and lets at most so many wait; one more is refused with 503. */
export function createLimiter(limits: { readonly concurrent: number; readonly queued: number }) {
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
      // Whoever wakes us hands over its place, so `running` stays as it is.
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
