import { withTimeout } from './json-fetch.ts'

/** Returns a remembered value. Rejects with the error of the last attempt if there is none. */
export type Cached<T> = (renew?: 'renew') => Promise<T>

interface CacheTimes {
  /** Seconds after which the value is loaded again. */
  readonly maxAge: number
  /** Seconds after `maxAge` for which the value is used while it cannot be loaded. */
  readonly maxStale: number
  /** Seconds between two attempts that `renew` causes. Others do not delay them. */
  readonly cooldown: number
  /** Seconds for which a caller waits for an attempt. Longer than an attempt takes. */
  readonly maxWait: number
  /** Epoch seconds. */
  readonly now: () => number
}

/** Seconds from the end of an attempt that has failed to the next one. */
const retryAfterFailure = 5

/** Seconds for which a value that was loaded for the same request is not loaded again. */
const leastAge = 1

/**
 * Seconds for which a caller that may use the old value waits for its attempt, after another one has failed. Most
 * attempts end in this time. Without it, none would succeed in a Worker, which cancels them with the request.
 */
const patience = 0.5

/** Callers that wait for one attempt: each occupies a connection of the API. Others use the old value, or get an error. */
const maxWaiting = 1000

/** Remembers what `load` returns. Concurrent callers share one attempt. */
export function createCached<T>(
  load: () => Promise<T>,
  { maxAge, maxStale, cooldown, maxWait, now }: CacheTimes,
): Cached<T> {
  let value: { readonly loaded: T; readonly at: number } | undefined
  let failure: { readonly error: unknown } | undefined
  let attempt: { readonly result: Promise<T>; readonly at: number; waiting: number } | undefined
  let nextAt = Number.NEGATIVE_INFINITY
  let nextRenewalAt = Number.NEGATIVE_INFINITY

  /** Waits for the attempt in progress, or for a new one. Rejects only if too many wait for it. */
  async function renew(isRenewal = false): Promise<void> {
    if (attempt === undefined && isRenewal) nextRenewalAt = now() + Math.min(cooldown, maxAge)
    attempt ??= { result: load(), at: now(), waiting: 0 }
    const awaited = attempt
    if (awaited.waiting >= maxWaiting) throw new Error('too many requests wait for the issuer')
    awaited.waiting += 1
    const outcome = await withTimeout(awaited.result, maxWait).then(
      (loaded) => ({ loaded, at: awaited.at }),
      (error: unknown) => ({ error }),
    )
    // Another caller has already handled the end of this attempt, or a later attempt has replaced it.
    if (attempt !== awaited) return
    attempt = undefined
    failure = 'error' in outcome ? outcome : undefined
    if ('loaded' in outcome) value = outcome
    nextAt = failure === undefined ? Math.max(nextRenewalAt, awaited.at + leastAge) : now() + retryAfterFailure
  }

  const age = (): number => (value === undefined ? Number.POSITIVE_INFINITY : now() - value.at)
  const isUsable = (): boolean => age() < maxAge + maxStale

  return async (renewal) => {
    // An attempt that has taken so long was abandoned with its request and all its timers.
    if (attempt !== undefined && now() >= attempt.at + maxWait) attempt = undefined
    const isNeeded = renewal !== undefined || !isUsable()
    // Waits for the first attempt: while the issuer responds, no value is used for longer than `maxAge`.
    if (isNeeded || (age() >= maxAge && failure === undefined)) {
      const ended = attempt !== undefined || now() >= nextAt ? renew(renewal !== undefined) : undefined
      // A token with an unknown key cannot use the old keys.
      await (isNeeded ? ended : ended?.catch(() => {}))
    } else if (age() >= maxAge && attempt === undefined && now() >= nextAt) {
      await withTimeout(renew(), patience).catch(() => {})
    }
    if (value !== undefined && isUsable()) return value.loaded
    throw failure?.error
  }
}
