import type { FetchAttempt, FetchWaits } from './fetch-waits.ts'

/**
 * The value that was read, or the reason why there is none. `busy`: no request was sent, because too many are in
 * progress or wait.
 */
export type Loaded<T extends object, P extends string> =
  | { readonly value: T; readonly problem?: undefined }
  | { readonly problem: P | 'busy'; readonly value?: undefined }

interface PublishedTimes {
  /** Seconds after which the value is read again, while other requests use the old one and wait for nothing. */
  readonly renewal: number
  /** Seconds for which the value is used. */
  readonly maxAge: number
  /** Seconds from the end of an attempt that has failed to the next one, and between two because of something new. */
  readonly cooldown: number
  /**
   * Seconds for which a request that may use the old value waits for the attempt that it starts. A Worker ends an attempt
   * with its request: without it, none succeeds there until `maxAge`. Default: 0.
   */
  readonly patience?: number
}

interface Search<T extends object, P extends string> {
  /** Reads the value. Must not reject. */
  readonly load: () => Promise<Loaded<T, P>>
  /** Returns the time in epoch seconds. */
  readonly now: () => number
  /** Whether the request needs something that the known value does not contain. Default: `false`. */
  readonly isNew?: boolean
  /** Whether this request can cause an attempt. Default: every request. */
  readonly mayLoad?: () => boolean
}

/** A value that another party publishes, such as keys. */
export interface Published<T extends object, P extends string> {
  find(search: Search<T, P>): Promise<Loaded<T, P>>
}

const never = Number.NEGATIVE_INFINITY

/** Remembers a value. Concurrent requests share one attempt to read it. */
export function createPublished<T extends object, P extends string>(
  waits: FetchWaits,
  { renewal, maxAge, cooldown, patience = 0 }: PublishedTimes,
): Published<T, P> {
  let known: { readonly value: T; readonly at: number } | undefined
  let problem: P | 'busy' = 'busy'
  let attempt: FetchAttempt | undefined
  let [triedAt, newAt, nextAt] = [never, never, never]

  function start({ load, now, isNew }: Search<T, P>, at: number): void {
    triedAt = at
    if (isNew) newAt = at
    const thisAttempt = waits.start(at, async () => {
      const loaded = await load()
      // A later attempt has replaced this one.
      if (attempt !== thisAttempt) return
      attempt = undefined
      if (loaded.value !== undefined) known = { value: loaded.value, at }
      problem = loaded.problem ?? 'busy'
      // Counted from the end of the attempt, because a host can be slow to fail.
      nextAt = problem === 'busy' ? never : now() + cooldown
      if (loaded.problem === 'busy') newAt = never
    })
    attempt = thisAttempt
  }

  return {
    async find(search) {
      const { now, isNew = false, mayLoad = () => true } = search
      const at = now()
      if (attempt !== undefined && waits.isLost(attempt, at)) {
        attempt = undefined
        newAt = never
      }
      const isYoungerThan = (age: number): boolean => known !== undefined && at < known.at + age
      const mustWait = isNew || !isYoungerThan(maxAge)
      // Attempts for another reason do not delay one for a key that was published after them.
      const isDue = at >= nextAt && (!isNew || (at > triedAt && at >= newAt + cooldown))
      const isNeeded = attempt === undefined && (mustWait || !isYoungerThan(renewal))
      const isStarted = isNeeded && isDue && mayLoad()
      if (isStarted) start(search, at)
      if (isStarted && !mustWait && patience > 0 && attempt !== undefined) await waits.wait(attempt, at, patience)
      if (mustWait && attempt !== undefined && !(await waits.wait(attempt, at))) return { problem: 'busy' }
      return known !== undefined && isYoungerThan(maxAge) ? { value: known.value } : { problem }
    },
  }
}
