import { createInFlight } from './in-flight.ts'

/** Returns a remembered value. Rejects with the error of the last attempt if there is none. */
export type Cached<T> = (renew?: 'renew') => Promise<T>

interface CacheTimes {
  /** Seconds after which the value is loaded again. */
  readonly maxAge: number
  /** Seconds after `maxAge` for which the value is used while it cannot be loaded. */
  readonly maxStale: number
  /** Seconds between two attempts that `renew` causes. */
  readonly cooldown: number
  /** Seconds for which a caller waits for an attempt. */
  readonly maxWait: number
  /** Epoch seconds. */
  readonly now: () => number
}

/** Seconds between two attempts while the last one has failed. */
const retryAfterFailure = 5

/** Remembers what `load` returns. Concurrent callers share one attempt. */
export function createCached<T>(
  load: () => Promise<T>,
  { maxAge, maxStale, cooldown, maxWait, now }: CacheTimes,
): Cached<T> {
  let value: { readonly loaded: T; readonly at: number } | undefined
  let failure: { readonly error: unknown } | undefined
  let triedAt = Number.NEGATIVE_INFINITY
  let isTrying = false
  const inFlight = createInFlight<void>(maxWait)

  async function attempt(): Promise<void> {
    const at = now()
    triedAt = at
    isTrying = true
    value = { loaded: await load(), at }
    failure = undefined
  }

  async function renew(): Promise<void> {
    try {
      await inFlight('', attempt)
    } catch (error) {
      failure = { error }
    }
    isTrying = false
  }

  const age = (): number => (value === undefined ? Number.POSITIVE_INFINITY : now() - value.at)

  return async (renewal) => {
    if (renewal !== undefined || age() >= maxAge) {
      const pause = failure === undefined ? Math.min(cooldown, maxAge) : retryAfterFailure
      if (isTrying || now() >= triedAt + pause) await renew()
    }
    if (value !== undefined && age() < maxAge + maxStale) return value.loaded
    throw failure?.error
  }
}
