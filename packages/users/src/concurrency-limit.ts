import { OAuthError } from '@grantry/core'

/** Runs a task when a slot is free. */
export type ConcurrencyLimit = <T>(task: () => Promise<T>) => Promise<T>

/** For checks of passwords: the thread pool of Node.js has four threads. More tasks would wait there without a limit. */
export const passwordLimits = { concurrent: 4, queued: 200 } as const

/** Limits how many tasks run concurrently and how many wait. Further tasks are refused with 503. */
export function createConcurrencyLimit(limits: {
  readonly concurrent: number
  readonly queued: number
}): ConcurrencyLimit {
  let running = 0
  const waiting: (() => void)[] = []

  return async (task) => {
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
