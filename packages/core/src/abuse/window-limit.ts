import { createBoundedMap } from '../bounded-map.ts'
import { tooManyFailures } from '../errors/oauth-error.ts'
import type { Recorder, Trace } from '../events/recorder.ts'
import type { Kit } from '../parts/kit.ts'
import { keyOf } from '../records/keys.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import type { Window } from './abuse-control.ts'
import { addressGroupOf } from './address-group.ts'

/** The dependencies of every limit. */
export interface LimitDeps {
  /**
   * Part of every key: two providers with the same storage may both have a client `web`, and their failures are counted
   * separately.
   */
  readonly issuer: string
  readonly store: Store
  readonly runtime: Runtime
  readonly recorder: Recorder
}

/** The maximum number of names whose failures a process remembers: about 2 MB. */
const maxNames = 10_000

/** What a process knows about the failures of a name in a window. */
interface Seen {
  readonly window: number
  /** The highest count that the storage has returned. */
  counted: number
  /** Announced failures that the storage has not started to count, or could not count. */
  announced: number
  /** The lowest possible count once the storage has counted all announced failures, including those in flight. */
  expected: number
}

/** A failure that counts in this process. Call `count` or `withdraw` at most once; without either, it remains. */
interface AnnouncedFailure {
  /**
   * Counts the failure in the storage, exactly across all processes.
   *
   * @returns seconds until the end of the window if the limit was already reached
   * @throws OAuthError `temporarily_unavailable` when the storage fails; the failure then counts in this process.
   */
  count(trace: Trace): Promise<number | undefined>
  withdraw(): void
}

/**
 * Counts failures of a name in the storage, and remembers in this process which names have reached the limit, so that a
 * successful request does not access the storage. The number of failures that get a normal error response is exact: the
 * limit, over all processes. A process learns that a name is blocked when it counts a failure itself, or from the marker.
 */
export interface WindowLimit {
  /** Whether this process has seen no failure. */
  readonly isQuiet: boolean
  /**
   * Returns the seconds until the end of the window if the limit is reached, as far as this process knows. Includes
   * announced failures, so that concurrent guesses are stopped before the storage responds.
   */
  knownWait(name: string): number | undefined
  /** Like `knownWait`, but reads the marker that all processes share. Requires `marks`. */
  markedWait(name: string): Promise<number | undefined>
  /** @throws OAuthError `slow_down` (429) if `knownWait` returns a number. */
  assertBelow(name: string): void
  announce(name: string): AnnouncedFailure
  /**
   * Counts a failure.
   *
   * @throws OAuthError `slow_down` (429) if the limit is exceeded.
   */
  count(name: string, trace: Trace): Promise<void>
}

type WindowLimitDeps = LimitDeps & {
  /** The name of the limit, for events and for the keys of records. */
  readonly limit: string
  /** Whether the storage gets a marker when the limit is reached. Default: no. */
  readonly marks?: boolean
}

/** Announced failures come on top of `counted`. Failures in flight are not added: `counted` may include them. */
function expect(seen: Seen, failuresAtLeast: number): void {
  seen.expected = Math.max(failuresAtLeast, seen.counted + seen.announced)
}

/** Creates the windows of a limit: what this process knows about the names in each, and the keys of their records. */
function createWindows(window: number, { limit, issuer, runtime }: WindowLimitDeps) {
  const known = createBoundedMap<Seen>(maxNames)
  const current = (): number => Math.floor(runtime.now() / window)
  const endOf = (at: number): number => (at + 1) * window
  const remaining = (at: number): number => Math.max(1, endOf(at) - runtime.now())
  const keyFor = (kind: 'count' | 'failure', name: string, at: number): string =>
    keyOf(kind, runtime.sha256Hex(JSON.stringify([issuer, limit, name, window, at])))

  function seenOf(name: string): Seen {
    const at = current()
    const seen = known.get(name)
    if (seen?.window === at) return seen
    const fresh = { window: at, counted: 0, announced: 0, expected: 0 }
    known.set(name, fresh)
    return fresh
  }

  return { known, current, endOf, remaining, keyFor, seenOf }
}

export function createWindowLimit({ failures, window }: Window, deps: WindowLimitDeps): WindowLimit {
  const { limit, marks = false, store, recorder } = deps
  const { known, current, endOf, remaining, keyFor, seenOf } = createWindows(window, deps)
  function knownWait(name: string): number | undefined {
    const seen = known.get(name)
    return seen?.window === current() && seen.expected >= failures ? remaining(seen.window) : undefined
  }

  function assertBelow(name: string): void {
    const wait = knownWait(name)
    if (wait !== undefined) throw tooManyFailures(wait)
  }

  async function settleCount(counted: number, name: string, seen: Seen, trace: Trace): Promise<number | undefined> {
    const isFirst = seen.counted < failures
    seen.counted = Math.max(seen.counted, counted)
    expect(seen, seen.expected)
    if (counted < failures) return undefined
    const wait = remaining(seen.window)
    if (isFirst) recorder.record(trace, { type: 'abuse_limited', limit, retryAfter: wait })
    // Before the response: once a caller sees that the limit is reached, all processes must see it. Also if the limit
    // is exceeded, because the process that reached it may have ended before it wrote the marker.
    if (marks) await store.put(keyFor('failure', name, seen.window), {}, endOf(seen.window))
    return counted > failures ? wait : undefined
  }

  function announce(name: string): AnnouncedFailure {
    const seen = seenOf(name)
    seen.announced += 1
    expect(seen, seen.expected + 1)
    return {
      async count(trace) {
        seen.announced -= 1
        let counted: number
        try {
          // One minute longer than the window, to allow for clock skew.
          counted = await store.increment(keyFor('count', name, seen.window), endOf(seen.window) + 60)
        } catch (error) {
          // A failure that the storage could not count counts in this process. Otherwise, guessing would be free
          // while the storage fails, and the right guess would succeed.
          seen.announced += 1
          expect(seen, seen.expected)
          throw error
        }
        return settleCount(counted, name, seen, trace)
      },
      withdraw() {
        seen.announced -= 1
        expect(seen, seen.expected - 1)
      },
    }
  }

  return {
    get isQuiet() {
      return known.size === 0
    },
    knownWait,
    async markedWait(name) {
      const at = current()
      return (await store.has(keyFor('failure', name, at))) ? remaining(at) : undefined
    },
    assertBelow,
    announce,
    async count(name, trace) {
      // Stops attempts that were in flight when the limit was reached: a flood must not reach the storage.
      assertBelow(name)
      const wait = await announce(name).count(trace)
      if (wait !== undefined) throw tooManyFailures(wait)
    },
  }
}

/** More than a plugin needs. Bounds the memory if a plugin computes the names of its limits. */
const maxLimits = 100

/** Creates `limitGuesses` of a plugin. */
export function createGuessLimits(plugin: string, deps: LimitDeps): Kit['limitGuesses'] {
  const { recorder } = deps
  const limits = createBoundedMap<WindowLimit>(maxLimits)

  function limitOf(name: string, failures: number, window: number): WindowLimit {
    const key = JSON.stringify([name, failures, window])
    const known = limits.get(key)
    if (known !== undefined) return known
    if (!(Number.isSafeInteger(failures) && failures > 0 && Number.isSafeInteger(window) && window > 0)) {
      throw new TypeError('limitGuesses() requires failures and window (seconds), whole numbers of at least 1')
    }
    const created = createWindowLimit({ failures, window }, { ...deps, limit: `plugin:${plugin}:${name}`, marks: true })
    limits.set(key, created)
    return created
  }

  return async ({ name, failures, window }, clientAddress, guess) => {
    if (typeof clientAddress !== 'string' || clientAddress === '') {
      throw new TypeError('limitGuesses() requires the address of the client')
    }
    const limit = limitOf(name, failures, window)
    const address = addressGroupOf(clientAddress)
    limit.assertBelow(address)
    const failure = limit.announce(address)
    let result: Awaited<ReturnType<typeof guess>>
    try {
      // The limit can have been reached in another process.
      const wait = await limit.markedWait(address)
      if (wait !== undefined) throw tooManyFailures(wait)
      result = await guess()
    } catch (error) {
      failure.withdraw()
      throw error
    }
    if (result !== undefined) {
      failure.withdraw()
      return result
    }
    const wait = await failure.count(recorder.start(`plugin:${plugin}`, { clientAddress }))
    if (wait !== undefined) throw tooManyFailures(wait)
    return undefined
  }
}
