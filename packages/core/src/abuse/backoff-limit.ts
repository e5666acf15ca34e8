import { tooManyFailures } from '../errors/oauth-error.ts'
import type { NewRecord } from '../records/envelope.ts'
import { isNumber, isObject, isString } from '../records/json.ts'
import { hashOf, keyOf } from '../records/keys.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import type { MaybePromise } from '../types.ts'
import type { Delays } from './options.ts'

interface Wait {
  /** Epoch seconds until which attempts are refused. */
  readonly until: number
}
interface Slot extends Wait {
  /** A random id; absent after a failure. */
  readonly attempt?: unknown
}
/** The current series and level of a name. Only a hint: the number of taken slots decides. */
interface Hint extends Wait {
  readonly series: string
  readonly level: number
}
const isSlot = (value: unknown): value is Slot => isObject(value) && 'until' in value && isNumber(value.until)
const isHint = (value: unknown): value is Hint =>
  isSlot(value) && 'series' in value && isString(value.series) && 'level' in value && isNumber(value.level)

/** The series of a name without a hint. Its slots expire one by one. */
const firstSeries = ''

/** What the storage hints about a name before an attempt. */
export type AttemptHint = Hint | undefined

/** Permission for one attempt under a name: a numbered slot. The attempt that creates its record has the permit. */
export interface Permit {
  /** The key of the chosen slot. */
  readonly key: string
  /** Chooses the first slot that no other attempt in this process has chosen. */
  choose(): void
  /** Returns the record of the chosen slot. */
  record(): NewRecord
  /**
   * Chooses another slot, because the record exists. Returns `false` if whether another attempt is allowed depends on
   * one in progress.
   *
   * @throws OAuthError `slow_down` (429) if an attempt is not allowed yet.
   */
  chooseAgain(): Promise<boolean>
  /** Returns what to write after a failure, and how many seconds which limit delays the next attempt. */
  fail(): { readonly records: readonly NewRecord[]; readonly limit: string; readonly retryAfter: number }
  /** Returns what to write after a success that forgets all earlier failures, and the hint that is then stored. */
  reset(): { readonly records: readonly NewRecord[]; readonly hint: AttemptHint }
  /** Call it after `choose`, when the attempt has ended. */
  end(): void
}

/**
 * Limits the attempts under a name. Each attempt creates the record of a numbered slot before a password is checked, so
 * the count is exact across processes, even for concurrent attempts. A slot contains the time until which the next slot
 * cannot be taken. Nothing else blocks attempts, so a process that crashes between two steps blocks no later attempt
 * for longer.
 */
export interface BackoffLimit {
  hintOf(name: string): MaybePromise<AttemptHint>
  /** @throws OAuthError `slow_down` (429) if an attempt is not allowed yet. */
  assertAllowed(hint: AttemptHint): void
  /** @param attempt a random id */
  permit(name: string, hint: AttemptHint, attempt: string): Permit
}

export function createBackoffLimit(
  { attempts, delay, maxDelay }: Delays,
  deps: {
    readonly limit: string
    readonly issuer: string
    readonly forgetAfter: number
    readonly store: Store
    readonly runtime: Runtime
  },
): BackoffLimit {
  const { limit, issuer, forgetAfter, store, runtime } = deps
  /** An upper bound for the lifetime of a slot, in seconds. */
  const period = maxDelay + forgetAfter
  // The keys of the slots that attempts in this process have or try to take. Bounded by the attempts in progress.
  const chosen = new Set<string>()
  const keyFor = (...parts: readonly (string | number)[]): string =>
    keyOf('failure', hashOf(JSON.stringify([issuer, limit, ...parts]), runtime))
  const delayAfter = (slot: number): number =>
    slot + 1 < attempts ? 0 : Math.min(delay * 2 ** (slot + 1 - attempts), maxDelay)

  function assertAllowed(hint: Wait | undefined): void {
    const now = runtime.now()
    if (hint !== undefined && now < hint.until) throw tooManyFailures(hint.until - now)
  }

  /**
   * Removes a slot that has expired by the provider's clock but not yet by the driver's. A slot lives for at least
   * `forgetAfter`, so each removal of it is in another window. Of concurrent attempts, one removes it: a second removal
   * would remove the slot that another attempt has taken since.
   */
  async function removeExpired(key: string, attempt: string): Promise<void> {
    if (!(await store.hasExpired(key))) return
    const now = runtime.now()
    const removal = keyFor('removal', key, Math.floor(now / forgetAfter))
    await store.commit({
      create: [{ key: removal, value: { attempt }, expiresAt: now + 2 * forgetAfter }],
      remove: [key],
    })
  }

  function permit(name: string, hint: AttemptHint, attempt: string): Permit {
    // Without a hint, all attempts must use the same series: those in progress have no hint yet.
    const series = hint?.series ?? firstSeries
    const level = hint?.level ?? 0
    const keyOfSlot = (number: number): string => keyFor(name, series, number)
    const isTaken = async (number: number): Promise<boolean> => {
      const key = keyOfSlot(number)
      return chosen.has(key) || store.has(key)
    }

    /**
     * Finds the first free slot among the attempts without a delay, by binary search; if that fails because slots were
     * returned, by linear search.
     */
    async function firstFree(): Promise<number> {
      let low = level
      let high = attempts - 1
      while (low < high) {
        const middle = (low + high) >> 1
        if (await isTaken(middle)) low = middle + 1
        else high = middle
      }
      if (low < attempts - 1 || !(await isTaken(low))) return low
      for (let number = level; number < low; number += 1) if (!(await isTaken(number))) return number
      return low
    }

    let slot = level
    let key = keyOfSlot(slot)
    let until = 0
    return {
      get key() {
        return key
      },
      choose() {
        // Not beyond the last attempt without a delay: only its record says whether the delay has passed.
        while (chosen.has(key) && slot + 1 < attempts) {
          slot += 1
          key = keyOfSlot(slot)
        }
        chosen.add(key)
      },
      record: () => {
        until = runtime.now() + delayAfter(slot)
        return { key, value: { until, attempt }, expiresAt: until + forgetAfter }
      },
      async chooseAgain() {
        const taken = await store.getMarker<Slot>(key, isSlot, { until: 0 })
        if (taken === undefined) {
          // It was returned, or has expired.
          await removeExpired(key, attempt)
          return true
        }
        if (taken.attempt !== undefined && runtime.now() < taken.until) return false
        assertAllowed(taken)
        chosen.delete(key)
        slot = slot + 1 < attempts ? await firstFree() : slot + 1
        key = keyOfSlot(slot)
        chosen.add(key)
        return true
      },
      fail() {
        const expiresAt = until + forgetAfter
        const hint: Hint = { series, level: slot + 1, until }
        return {
          records: [
            { key: keyFor(name), value: hint, expiresAt },
            { key, value: { until }, expiresAt },
          ],
          limit,
          retryAfter: delayAfter(slot),
        }
      },
      reset() {
        // No failure since the last reset, and no permits that could not be returned delay the next attempt.
        if (level === 0 && slot < attempts) return { records: [], hint }
        const fresh: Hint = { series: runtime.base64url(runtime.randomBytes(9)), level: 0, until: 0 }
        return { records: [{ key: keyFor(name), value: fresh, expiresAt: runtime.now() + period }], hint: fresh }
      },
      end() {
        chosen.delete(key)
      },
    }
  }

  return { hintOf: (name) => store.get(keyFor(name), isHint), assertAllowed, permit }
}
