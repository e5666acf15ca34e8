import * as v from 'valibot'
import type { MaybePromise } from '../json.ts'
import { hashOf, keyOf } from '../records/keys.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import type { Delays } from './options.ts'
import { tooMany } from './too-many.ts'

// Where the count of a name is, and until when nobody may try. Only a hint: what has been tried is what slots are taken.
const hintSchema = v.object({ series: v.string(), level: v.number(), until: v.number() })
type Hint = v.InferOutput<typeof hintSchema>
const slotSchema = v.object({ until: v.number() })

/** The right to one attempt. It ends with `fail` or with `giveBack`. */
export interface Permit {
  /** Keeps it spent. @returns seconds that the next attempt has to wait. */
  fail(): Promise<number>
  /** Nothing was tried, or it succeeded. */
  giveBack(): MaybePromise<void>
  /** Forgets all earlier failures, after a success. */
  forget(): MaybePromise<void>
}

/** What is known of a name before anything is tried. */
export type Look = Hint | undefined

/**
 * Attempts under a name, each of which takes a numbered slot by an atomic insert before anything is tried: so the count is exact across processes, also of
 * attempts that come all at once. A slot says until when the next one may not be taken. Nothing else forbids an attempt, so a process that dies between
 * any two steps makes nobody wait longer than that.
 */
export interface Permits {
  look(name: string): MaybePromise<Look>
  /** @throws OAuthError `slow_down`, 429, when it is too early. */
  assertDue(look: Look): void
  /** @throws OAuthError `slow_down`, 429, when it is too early, or others were faster. */
  take(name: string, look: Look): Promise<Permit>
}

/** Slots that are looked at beyond the hint. More are there only where many processes died. */
const mostSteps = 100

export function createPermits(
  { attempts, delay, longestDelay }: Delays,
  deps: {
    readonly limit: string
    readonly issuer: string
    readonly forgetAfter: number
    readonly store: Store
    readonly runtime: Runtime
  },
): Permits {
  const { limit, issuer, forgetAfter, store, runtime } = deps
  /** Longer than any slot lives. */
  const period = longestDelay + forgetAfter
  const hintKey = (name: string): string => keyOf('failure', hashOf(JSON.stringify([issuer, limit, name]), runtime))
  const slotKey = (name: string, series: string, slot: number): string =>
    keyOf('failure', hashOf(JSON.stringify([issuer, limit, name, series, slot]), runtime))
  const delayAfter = (slot: number): number =>
    slot + 1 < attempts ? 0 : Math.min(delay * 2 ** (slot + 1 - attempts), longestDelay)

  function assertDue(look: Look): void {
    const now = runtime.now()
    if (look !== undefined && now < look.until) throw tooMany(look.until - now)
  }

  /** Whether this call took it. One that has ended by our clock and not yet by the driver's stands in nobody's way. */
  async function takeSlot(key: string, until: number): Promise<boolean> {
    if (await store.insert(key, { until }, until + forgetAfter)) return true
    const taken = await store.getMarker(key, slotSchema, { until: 0 })
    if (taken === undefined) {
      await store.delete(key)
      return store.insert(key, { until }, until + forgetAfter)
    }
    assertDue({ series: '', level: 0, until: taken.until })
    return false
  }

  /** The free attempts have no delay between them, so the first one that is left can be halved for; but for those that were given back. */
  async function firstFree(name: string, series: string, from: number): Promise<number> {
    const isTaken = (slot: number): MaybePromise<boolean> => store.has(slotKey(name, series, slot))
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

  function permitOf(name: string, look: Look, series: string, slot: number, until: number): Permit {
    const key = slotKey(name, series, slot)
    const note = (hint: Hint, expiresAt: number) => store.put(hintKey(name), hint, expiresAt)
    return {
      async fail() {
        await note({ series, level: slot + 1, until }, until + forgetAfter)
        return delayAfter(slot)
      },
      giveBack: () => store.delete(key),
      forget: () =>
        look === undefined
          ? undefined
          : note({ series: runtime.base64url(runtime.randomBytes(9)), level: 0, until: 0 }, runtime.now() + period),
    }
  }

  return {
    look: (name) => store.get(hintKey(name), hintSchema),
    assertDue,
    async take(name, look) {
      assertDue(look)
      // Where nothing is known, all processes must try the same slots. Longer than slots live, so none of an earlier series counts.
      const series = look?.series ?? String(Math.floor(runtime.now() / period))
      let slot = look?.level ?? 0
      for (let step = 0; step < mostSteps; step += 1) {
        const until = runtime.now() + delayAfter(slot)
        if (await takeSlot(slotKey(name, series, slot), until)) return permitOf(name, look, series, slot, until)
        slot = slot + 1 < attempts ? await firstFree(name, series, look?.level ?? 0) : slot + 1
      }
      throw tooMany(delay)
    },
  }
}
