import { createBoundedMap } from '../bounded-map.ts'
import { isNumber, isObject } from '../json.ts'
import { after } from '../promises.ts'
import { combined, type Lookup, markerAt, type NewRecord, recordAt } from '../records/envelope.ts'
import { keyOf } from '../records/keys.ts'
import type { MaybePromise } from '../types.ts'
import type { Window } from './abuse-control.ts'
import type { LimitDeps } from './window-limit.ts'

interface Mark {
  readonly number: number
}
const isMark = (value: unknown): value is Mark => isObject(value) && 'number' in value && isNumber(value.number)
const unreadable: Mark = { number: Number.POSITIVE_INFINITY }

/** The maximum number of names that a process remembers as blocked: about 2 MB. */
const maxNames = 10_000

/** What the storage knows about the attempts of a window. */
export interface Progress {
  /** The number of attempts that were no failures. */
  readonly passed: number
  /** The number of the failure after which no other was allowed; 0 without one. */
  readonly full: number
}

/**
 * An attempt under a name in the current window. It has functions instead of accessors: every object literal with an
 * accessor gets its own hidden class, which slows down all code that reads it (bench/PROFILE.md).
 */
export interface NumberedAttempt {
  readonly limit: string
  readonly progress: Lookup<Progress>
  /** Seconds until the window ends. */
  remaining(): number
  /** Whether the number is low enough for a check of the password. */
  isAdmitted(): boolean
  /** Whether all attempts that the window allows have failed, as far as is known. */
  isBlocked(): boolean
  see(progress: Progress): void
  /** Draws the next number, which no other process gets. Without a number, no password may be checked. */
  draw(): MaybePromise<void>
  /**
   * Takes this attempt out of the count: the password was right, or the attempt was no guess. Returns the records to
   * write.
   */
  giveBack(): Promise<readonly NewRecord[]>
  /** Returns the keys to remove in order to forget all attempts. */
  forget(): readonly string[]
  /** Returns the records to write after a wrong password: none, or the marker that no further attempt is allowed. */
  fail(): readonly NewRecord[]
}

/**
 * Limits the failures under a name in a window, exactly across all processes: each attempt draws a number from an
 * atomic counter before the password is checked. It is admitted while its number is at most the limit plus the
 * attempts that were no failures (`passed`). Of the numbers up to that sum, as many belong to failures and attempts
 * in progress as the limit allows, in whatever order the storage performs reads and writes. An outdated `passed`
 * admits fewer.
 *
 * A number beyond that sum does not show whether the other attempts have failed. The failure that has the last number
 * writes a marker. Without the marker, attempts are still in progress, and a later attempt waits for them.
 */
export interface AttemptLimit {
  open(name: string): NumberedAttempt
}

export function createAttemptLimit(
  { failures, window }: Window,
  { limit, issuer, store, runtime }: Omit<LimitDeps, 'recorder'> & { readonly limit: string },
): AttemptLimit {
  /** The names that are blocked, as far as this process has seen. */
  const blocked = createBoundedMap<number>(maxNames)

  return {
    open(name) {
      const at = Math.floor(runtime.now() / window)
      const end = (at + 1) * window
      const hashed = (...kind: readonly string[]): string =>
        runtime.sha256Hex(JSON.stringify([issuer, limit, name, window, at, ...kind]))
      const hash = hashed()
      const [countKey, passedKey, fullKey] = [keyOf('count', hash), keyOf('passed', hash), keyOf('failure', hash)]
      const passedCountKey = (): string => keyOf('count', hashed('passed'))
      // One minute longer than the window, to allow for clock skew.
      const next = (key: string): MaybePromise<number> => store.increment(key, end + 60)
      let number = 0
      let seen: Progress = { passed: 0, full: 0 }
      const allowed = (): number => failures + seen.passed
      return {
        limit,
        progress: combined(
          [recordAt(passedKey, isMark), markerAt(fullKey, isMark, unreadable)],
          ([passed, full]): Progress => ({ passed: passed?.number ?? 0, full: full?.number ?? 0 }),
        ),
        remaining: () => Math.max(1, end - runtime.now()),
        isAdmitted: () => number > 0 && number <= allowed(),
        isBlocked: () => Math.max(seen.full, blocked.get(hash) ?? 0) >= allowed(),
        see(progress) {
          seen = progress
          if (progress.full > 0) blocked.set(hash, progress.full)
        },
        draw: () =>
          after(next(countKey), (drawn) => {
            number = drawn
          }),
        async giveBack() {
          return [{ key: passedKey, value: { number: await next(passedCountKey()) }, expiresAt: end }]
        },
        forget() {
          blocked.delete(hash)
          return [
            countKey,
            ...(seen.full > 0 ? [fullKey] : []),
            ...(seen.passed > 0 ? [passedKey, passedCountKey()] : []),
          ]
        },
        fail() {
          if (number < allowed()) return []
          blocked.set(hash, number)
          return [{ key: fullKey, value: { number }, expiresAt: end }]
        },
      }
    },
  }
}
