import type { Runtime } from '../runtime.ts'
import { staleAfter } from './ring-times.ts'

/** Milliseconds after which a look is given up: a Worker may end a request, and with it what that had begun. */
const abandonedAfter = 30_000
/** Looks for unknown keys that strangers can cause: so many at once, and one more each second. */
const burst = 10

/** When to look whether other processes have changed the ring. There is no timer: requests ask. */
export interface RingLooks {
  /** For every use of a key. A promise where what is known is too old to be used without a look. */
  refresh(): Promise<void> | undefined
  /** For a key that is not known. `false` where there have been too many. */
  refreshForUnknown(): Promise<boolean>
  /** A look that begins now, after one that is under way. Rejects when it fails. */
  fresh(): Promise<void>
  /** When none is under way any more. */
  settled(): Promise<void>
}

/**
 * @param look what looking is; it may reject.
 * @param onFailed hears of each look that has failed. Keys that are known go on to sign and verify.
 */
export function createRingLooks(deps: {
  readonly look: () => Promise<void>
  /** Seconds between two looks of a process that is asked. */
  readonly lookEvery: number
  readonly onFailed: (cause: unknown) => void
  readonly runtime: Runtime
}): RingLooks {
  const { look, lookEvery, onFailed, runtime } = deps
  let nextAt = runtime.elapsed() + lookEvery * 1000
  let staleAt = runtime.elapsed() + staleAfter * 1000
  let failing = false
  let underWay: { readonly since: number; readonly promise: Promise<void> } | undefined
  let tokens = burst
  let countedAt = runtime.elapsed()

  async function lookOnce(): Promise<void> {
    const since = runtime.elapsed()
    try {
      await look()
      failing = false
      // From its beginning: what came into the store while it was under way it may not have seen.
      staleAt = since + staleAfter * 1000
    } catch (cause) {
      failing = true
      onFailed(cause)
      throw cause
    } finally {
      nextAt = runtime.elapsed() + lookEvery * 1000
    }
  }

  /** Begins one, or joins the one that is under way. */
  function join(): Promise<void> {
    const since = runtime.elapsed()
    if (underWay !== undefined && since - underWay.since < abandonedAfter) return underWay.promise
    const begun = { since, promise: lookOnce() }
    underWay = begun
    const done = (): void => {
      if (underWay === begun) underWay = undefined
    }
    // Told already, and nobody may be waiting.
    begun.promise.then(done, done)
    return begun.promise
  }

  // A look that fails was told; the keys that are known are used.
  const ignore = (): void => {}
  const quiet = (): Promise<void> => join().then(ignore, ignore)

  function mayLook(): boolean {
    const now = runtime.elapsed()
    tokens = Math.min(burst, tokens + (now - countedAt) / 1000)
    countedAt = now
    if (tokens < 1) return false
    tokens -= 1
    return true
  }

  return {
    refresh() {
      const now = runtime.elapsed()
      if (now < nextAt) return undefined
      const looking = quiet()
      return now > staleAt && !failing ? looking : undefined
    },
    async refreshForUnknown() {
      // One that began before the token came may have been too early.
      if (underWay !== undefined) await quiet()
      if (underWay === undefined && !mayLook()) return false
      await quiet()
      return true
    },
    async fresh() {
      if (underWay !== undefined) await quiet()
      await join()
    },
    async settled() {
      await underWay?.promise.then(ignore, ignore)
    },
  }
}
