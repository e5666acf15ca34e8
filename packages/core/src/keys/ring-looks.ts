import type { Runtime } from '../runtime.ts'
import { staleAfter } from './ring-times.ts'

/**
 * Milliseconds after which a read no longer blocks a new one: when a Worker ends a request, reads that the request
 * started may never settle.
 */
const abandonedAfter = 30_000
/** The limit of reads for unknown keys, which callers can cause: a burst of this size, and one more each second. */
const burst = 10

/**
 * Decides when to read the ring from the storage to see changes by other processes. Requests trigger the reads; there
 * is no timer.
 */
export interface RingLooks {
  /**
   * Call it before every use of a key. Returns a promise to wait for if the known keys are too old to be used without a
   * read.
   */
  refresh(): Promise<void> | undefined
  /** Call it for an unknown key. Resolves to `false`, without a read, if there were too many. */
  refreshForUnknown(): Promise<boolean>
  /** Starts a new read, after a read that is in flight. Rejects when it fails. */
  fresh(): Promise<void>
  /** Resolves when no read is in flight. */
  settled(): Promise<void>
}

/**
 * @param look reads the ring; may reject.
 * @param onFailed called for each failed read. Known keys continue to sign and verify.
 */
export function createRingLooks(deps: {
  readonly look: () => Promise<void>
  /** The minimum interval between two reads of a process, in seconds. */
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
      // Counted from the start of the read, which may have missed later changes.
      staleAt = since + staleAfter * 1000
    } catch (cause) {
      failing = true
      onFailed(cause)
      throw cause
    } finally {
      nextAt = runtime.elapsed() + lookEvery * 1000
    }
  }

  /** Starts a read, or joins the read that is in flight. */
  function join(): Promise<void> {
    const since = runtime.elapsed()
    if (underWay !== undefined && since - underWay.since < abandonedAfter) return underWay.promise
    const begun = { since, promise: lookOnce() }
    underWay = begun
    const done = (): void => {
      if (underWay === begun) underWay = undefined
    }
    // Failures are already reported; this also prevents an unhandled rejection.
    begun.promise.then(done, done)
    return begun.promise
  }

  // A failed read is already reported; the known keys are used.
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
      // A read that started before the token arrived may have missed its key.
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
