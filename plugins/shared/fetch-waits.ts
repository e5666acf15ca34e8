/** A fetch in progress, such as of keys. */
export interface FetchAttempt {
  /** Never rejects. */
  readonly result: Promise<void>
  /** Epoch seconds. */
  readonly since: number
  /** The number of requests that wait for it. */
  waiting: number
}

/** Limits how many requests wait for fetches, so that hosts that do not respond cannot hold all requests of a server. */
export interface FetchWaits {
  /** @param now epoch seconds */
  start(now: number, fetch: () => Promise<void>): FetchAttempt
  /**
   * Waits for an attempt. Returns `false` without waiting if too many requests wait, for it or in all, and after the time
   * limit if it has not ended.
   *
   * @param limit seconds. Default: more than an attempt takes
   */
  wait(attempt: FetchAttempt, now: number, limit?: number): Promise<boolean>
  /** Whether an attempt that has not ended never will: a Worker ends a request with its fetches and timers. */
  isLost(attempt: FetchAttempt, now: number): boolean
}

/** Whether work ends within seconds. */
async function endsWithin(work: Promise<void>, seconds: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), seconds * 1000)
  })
  const outcome = await Promise.race([work.then(() => true), late])
  clearTimeout(timer)
  return outcome
}

/** The part of all places that one attempt can have. */
const share = 1 / 8

export function createFetchWaits({
  maxWaiting,
  timeout,
}: {
  readonly maxWaiting: number
  /** Seconds after which an attempt has ended, unless a Worker has ended its request. */
  readonly timeout: number
}): FetchWaits {
  const attempts = new Set<FetchAttempt>()
  const maxPerAttempt = Math.floor(maxWaiting * share)
  // Clocks can count whole seconds.
  const maxDuration = timeout + 1
  const isLost = ({ since }: FetchAttempt, now: number): boolean => now >= since + maxDuration

  function countAt(now: number): number {
    let count = 0
    for (const attempt of attempts) {
      if (isLost(attempt, now)) attempts.delete(attempt)
      else count += attempt.waiting
    }
    return count
  }

  return {
    start(now, fetch) {
      const attempt = { result: fetch(), since: now, waiting: 0 }
      attempts.add(attempt)
      void attempt.result.then(() => attempts.delete(attempt))
      return attempt
    },
    async wait(attempt, now, limit = maxDuration) {
      if (attempt.waiting >= maxPerAttempt || countAt(now) >= maxWaiting) return false
      attempt.waiting += 1
      return endsWithin(attempt.result, limit)
    },
    isLost,
  }
}
