import { createBoundedMap } from '../bounded-map.ts'
import type { Trace } from '../events/trace.ts'
import type { MaybePromise } from '../json.ts'
import { after } from '../promises.ts'
import { hashOf, keyOf } from '../records/keys.ts'
import type { LimitDeps } from './limit-deps.ts'
import type { Window } from './options.ts'
import { tooMany } from './too-many.ts'

/** Names of which a process knows that they have failed: some 2 MB. */
const mostNames = 10_000

interface Seen {
  readonly window: number
  failures: number
  blocked: boolean
}

/**
 * Counts what goes wrong under a name in the store, and remembers in this process who has reached the limit: a request that succeeds asks no store. Exact is
 * how many failures are told as such: over all processes, the limit. A process learns that a name is blocked at its own first failure, or its limit-th.
 */
export interface WindowLimit {
  /** Whether nobody has failed in this process. */
  readonly isQuiet: boolean
  /** Looks at the memory of this process only. @throws OAuthError `slow_down`, 429. */
  assertBelow(name: string): void
  /** Counts one. @throws OAuthError `slow_down`, 429, where it is one too many. */
  count(name: string, trace: Trace): MaybePromise<void>
}

export function createWindowLimit(
  { failures, window }: Window,
  // What is limited, for events and in the keys of the store.
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
    // Also by what this process has counted itself: guesses that come all at once must not wait for the store to say so.
    if (seen.blocked || seen.failures >= failures) throw tooMany(remaining(seen.window))
  }

  return {
    get isQuiet() {
      return known.size === 0
    },
    assertBelow,
    count(name, trace) {
      // Those that were under way with the last one that counts: a flood must not reach the store.
      assertBelow(name)
      const seen = seenOf(name)
      seen.failures += 1
      const key = keyOf('count', hashOf(JSON.stringify([issuer, limit, name, window, seen.window]), runtime))
      // A minute more than it takes: clocks of processes differ.
      return after(store.increment(key, (seen.window + 1) * window + 60), (counted) => {
        if (counted >= failures) block(seen, trace)
        if (counted > failures) throw tooMany(remaining(seen.window))
      })
    },
  }
}
