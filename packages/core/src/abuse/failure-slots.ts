import { createBoundedMap } from '../bounded-map.ts'
import type { MaybePromise } from '../json.ts'
import { after } from '../promises.ts'
import { hashOf, keyOf } from '../records/keys.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import type { Window } from './options.ts'

/**
 * Counts failures with nothing but an atomic insert: the n-th failure of a window takes the n-th numbered slot, so the count is exact across processes, a
 * look costs one read, and every slot goes away with its window. Nobody is kept waiting for longer than that.
 */
export interface FailureSlots {
  /** Seconds until the window of a name that has reached the limit is over; `undefined` below it. */
  waitOf(name: string): MaybePromise<number | undefined>
  /** The same, where this process alone has recorded as many. Asks no store. */
  reachedHere(name: string): number | undefined
  /** @returns the same, where this failure was the one that reached it. */
  record(name: string): Promise<number | undefined>
}

/** Names of which a process knows how often they have failed. */
const mostNames = 1000

export function createFailureSlots(
  { failures, window }: Window,
  {
    limit,
    issuer,
    store,
    runtime,
  }: { readonly limit: string; readonly issuer: string; readonly store: Store; readonly runtime: Runtime },
): FailureSlots {
  const current = (): number => Math.floor(runtime.now() / window)
  const endOf = (at: number): number => (at + 1) * window
  const remaining = (at: number): number => Math.max(1, endOf(at) - runtime.now())
  const recorded = createBoundedMap<{ readonly at: number; readonly count: number }>(mostNames)
  const countHere = (name: string, at: number): number => {
    const seen = recorded.get(name)
    return seen?.at === at ? seen.count : 0
  }
  const slotKey = (name: string, at: number, slot: number): string =>
    keyOf('failure', hashOf(JSON.stringify([issuer, limit, name, at, slot]), runtime))

  return {
    waitOf(name) {
      const at = current()
      return after(store.has(slotKey(name, at, failures - 1)), (reached) => (reached ? remaining(at) : undefined))
    },
    reachedHere(name) {
      const at = current()
      return countHere(name, at) >= failures ? remaining(at) : undefined
    },
    async record(name) {
      const at = current()
      // Before the store answers: those that come back meanwhile have to know.
      const before = countHere(name, at)
      recorded.set(name, { at, count: before + 1 })
      // Slots are taken from the bottom, so the first free one can be halved for: above those of this process, which do not get in each other's way.
      let free = Math.min(before, failures)
      let taken = failures
      while (free < taken) {
        const middle = (free + taken) >> 1
        if (await store.has(slotKey(name, at, middle))) free = middle + 1
        else taken = middle
      }
      for (let slot = free; slot < failures; slot += 1) {
        if (!(await store.insert(slotKey(name, at, slot), {}, endOf(at)))) continue
        return slot === failures - 1 ? remaining(at) : undefined
      }
      return undefined
    },
  }
}
