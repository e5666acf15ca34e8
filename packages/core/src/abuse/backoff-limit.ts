import { tooManyFailures } from '../errors/oauth-error.ts'
import { hashOf, keyOf } from '../records/keys.ts'
import { isNumber, isObject, isString } from '../records/schemas.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import type { MaybePromise } from '../types.ts'
import type { Delays } from './options.ts'

interface Slot {
  /** Epoch seconds until which attempts are refused. */
  readonly until: number
}
/** The current series and level of a name. Only a hint: the number of taken slots decides. */
interface Hint extends Slot {
  readonly series: string
  readonly level: number
}
const isSlot = (value: unknown): value is Slot => isObject(value) && 'until' in value && isNumber(value.until)
const isHint = (value: unknown): value is Hint =>
  isSlot(value) && 'series' in value && isString(value.series) && 'level' in value && isNumber(value.level)

/** Permission for one attempt. End it with `fail` or `release`. */
export interface Permit {
  /**
   * Keeps the permit spent.
   *
   * @returns seconds that the next attempt has to wait.
   */
  fail(): Promise<number>
  /** Returns the permit, because no password was checked or the attempt succeeded. */
  release(): MaybePromise<void>
  /** Forgets all earlier failures, after a success. */
  reset(): Promise<void>
}

interface TakenSlot extends Slot {
  readonly series: string
  readonly slot: number
  /** The key of its record. */
  readonly key: string
}

/** What the storage hints about a name before an attempt. */
export type AttemptHint = Hint | undefined

/**
 * Limits the attempts under a name. Each attempt takes a numbered slot by an atomic insert before a password is
 * checked, so the count is exact across processes, even for concurrent attempts. A slot contains the time until which
 * the next slot cannot be taken. Nothing else blocks attempts, so a process that crashes between two steps blocks no
 * later attempt for longer.
 */
export interface BackoffLimit {
  hintOf(name: string): MaybePromise<AttemptHint>
  /** @throws OAuthError `slow_down` (429) if an attempt is not allowed yet. */
  assertAllowed(hint: AttemptHint): void
  /** @throws OAuthError `slow_down` (429) if an attempt is not allowed yet, or concurrent attempts took the slots. */
  acquire(name: string, hint: AttemptHint): Promise<Permit>
}

/** The maximum number of slots that are tried beyond the hint. More are taken only if many processes crashed. */
const maxSteps = 100

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
  const hintKey = (name: string): string => keyOf('failure', hashOf(JSON.stringify([issuer, limit, name]), runtime))
  const slotKey = (name: string, series: string, slot: number): string =>
    keyOf('failure', hashOf(JSON.stringify([issuer, limit, name, series, slot]), runtime))
  const delayAfter = (slot: number): number =>
    slot + 1 < attempts ? 0 : Math.min(delay * 2 ** (slot + 1 - attempts), maxDelay)

  function assertAllowed(hint: AttemptHint): void {
    const now = runtime.now()
    if (hint !== undefined && now < hint.until) throw tooManyFailures(hint.until - now)
  }

  /**
   * Takes a slot; returns whether this call took it. Deletes a slot that has expired by the provider's clock but not
   * yet by the driver's.
   */
  async function takeSlot(key: string, until: number): Promise<boolean> {
    if (await store.insert(key, { until }, until + forgetAfter)) return true
    const taken = await store.getMarker(key, isSlot, { until: 0 })
    if (taken === undefined) {
      await store.delete(key)
      return store.insert(key, { until }, until + forgetAfter)
    }
    assertAllowed({ series: '', level: 0, until: taken.until })
    return false
  }

  /**
   * Finds the first free slot among the attempts without a delay, by binary search; if that fails because slots were
   * returned, by linear search.
   */
  async function firstFree(name: string, series: string, from: number): Promise<number> {
    const isTaken = (slot: number) => store.has(slotKey(name, series, slot))
    let low = from
    let high = attempts - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if (await isTaken(middle)) low = middle + 1
      else high = middle
    }
    if (low < attempts - 1 || !(await isTaken(low))) return low
    for (let slot = from; slot < low; slot += 1) if (!(await isTaken(slot))) return slot
    return low
  }

  function permitOf(name: string, earlier: AttemptHint, { series, slot, key, until }: TakenSlot): Permit {
    const writeHint = (hint: Hint, expiresAt: number) => store.put(hintKey(name), hint, expiresAt)
    return {
      async fail() {
        await writeHint({ series, level: slot + 1, until }, until + forgetAfter)
        return delayAfter(slot)
      },
      release: () => store.delete(key),
      async reset() {
        if (earlier === undefined) return
        const series = runtime.base64url(runtime.randomBytes(9))
        await writeHint({ series, level: 0, until: 0 }, runtime.now() + period)
      },
    }
  }

  return {
    hintOf: (name) => store.get(hintKey(name), isHint),
    assertAllowed,
    async acquire(name, hint) {
      assertAllowed(hint)
      // Without a hint, all processes must use the same series. Its period exceeds the lifetime of slots, so slots of
      // an earlier series have expired.
      const series = hint?.series ?? String(Math.floor(runtime.now() / period))
      let slot = hint?.level ?? 0
      for (let step = 0; step < maxSteps; step += 1) {
        const until = runtime.now() + delayAfter(slot)
        const key = slotKey(name, series, slot)
        if (await takeSlot(key, until)) return permitOf(name, hint, { series, slot, key, until })
        slot = slot + 1 < attempts ? await firstFree(name, series, hint?.level ?? 0) : slot + 1
      }
      throw tooManyFailures(delay)
    },
  }
}
