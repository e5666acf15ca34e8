import type { Kit } from '@grantry/core'

/** Seconds. */
const window = 60

/**
 * Limits the requests of each administrator in this process: a program that runs wild must not take the storage from the
 * sign-ins. The callers are those that the configuration names, so there are few.
 *
 * @throws OAuthError `slow_down` (429)
 */
export function createCallLimit(requestsPerMinute: number) {
  const counts = new Map<string, { readonly start: number; calls: number }>()
  return (caller: string, { now, refuse }: Pick<Kit, 'now' | 'refuse'>): void => {
    const time = now()
    const start = time - (time % window)
    const known = counts.get(caller)
    const count = known?.start === start ? known : { start, calls: 0 }
    counts.set(caller, count)
    count.calls += 1
    if (count.calls <= requestsPerMinute) return
    throw refuse('slow_down', 'Too many requests, try again later', 'too_many_requests', {
      status: 429,
      retryAfter: start + window - time,
    })
  }
}
