import { createBoundedMap } from '../bounded-map.ts'
import type { Trace } from '../events/trace.ts'
import type { MaybePromise } from '../json.ts'
import { after } from '../promises.ts'
import { hashOf, keyOf } from '../records/keys.ts'
import type { LimitDeps } from './limit-deps.ts'
import type { Window } from './options.ts'
import { tooMany } from './too-many.ts'

/** The maximum number of names whose failures a process remembers: about 2 MB. */
const mostNames = 10_000

interface Seen {
  readonly window: number
  failures: number
  blocked: boolean
}

/**
 * Counts failures of a name in the storage, and remembers in this process which names have reached the limit, so that a
 * successful request does not access the storage. The number of failures that get a normal error response is exact: the
 * limit, over all processes. A process learns that a name is blocked when it counts a failure itself.
 */
export interface WindowLimit {
  /** Whether this process has seen no failure. */
  readonly isQuiet: boolean
  /**
   * Checks the limit in the memory of this process only.
   *
   * @throws OAuthError `slow_down` (429).
   */
  assertBelow(name: string): void
  /**
   * Counts a failure.
   *
   * @throws OAuthError `slow_down` (429) if the limit is exceeded.
   */
  count(name: string, trace: Trace): MaybePromise<void>
}

export function createWindowLimit(
  { failures, window }: Window,
  // `limit` is the name of the limit, for events and for the keys of counters.
  deps: LimitDeps & { readonly limit: string },
): WindowLimit {
  const { limit, issuer, store, runtime, recorder } = deps
  const known = createBoundedMap<Seen>(mostNames)
  const remaining = (at: number): number => (at + 1) * window - runtime.now()

  function seenOf(name: string): Seen {
    const at = Math.floor(runtime.now() / window)
    const seen = known.get(name)
    if (seen?.window === at) return seen
    const fresh = { window: at, failures: 0, blocked: false }
    known.set(name, fresh)
    return fresh
  }

  function block(seen: Seen, trace: Trace): void {
    if (seen.blocked) return
    seen.blocked = true
    recorder.record(trace, { type: 'abuse_limited', limit, retryAfter: Math.max(1, remaining(seen.window)) })
  }

  function assertBelow(name: string): void {
    const seen = known.get(name)
    if (seen === undefined || seen.window !== Math.floor(runtime.now() / window)) return
    // Includes the process's own count, so that concurrent guesses are stopped before the storage responds.
    if (seen.blocked || seen.failures >= failures) throw tooMany(remaining(seen.window))
  }

  return {
    get isQuiet() {
      return known.size === 0
    },
    assertBelow,
    count(name, trace) {
      // Stops attempts that were in flight when the limit was reached: a flood must not reach the storage.
      assertBelow(name)
      const seen = seenOf(name)
      seen.failures += 1
      const key = keyOf('count', hashOf(JSON.stringify([issuer, limit, name, window, seen.window]), runtime))
      // One minute longer than the window, to allow for clock skew.
      return after(store.increment(key, (seen.window + 1) * window + 60), (counted) => {
        if (counted >= failures) block(seen, trace)
        if (counted > failures) throw tooMany(remaining(seen.window))
      })
    },
  }
}
