import { createBoundedMap } from '../bounded-map.ts'
import type { MaybePromise } from '../json.ts'
import { after } from '../promises.ts'
import { hashOf, keyOf } from '../records/keys.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'

/**
 * Counts failures with only an atomic insert: the n-th failure of a window takes slot n. The count is exact across
 * processes, checking it costs one read, and every slot expires with its window, so no caller waits longer than that.
 */
export interface FailureSlots {
  /**
   * Returns the seconds until the end of the window for a name that has reached the limit; `undefined` below the limit.
   */
  waitOf(name: string): MaybePromise<number | undefined>
  /** Like `waitOf`, but based only on what this process knows, without reading the storage. */
  reachedHere(name: string): number | undefined
  /**
   * Makes `reachedHere` count a failure that is not recorded yet.
   *
   * @returns a function that undoes it; call it once, before `record` or instead of it.
   */
  announce(name: string): () => void
  record(name: string): Promise<Recorded>
}

/** The result of recording a failure. */
export interface Recorded {
  /** Whether all slots of the window were already taken. */
  readonly exceeded: boolean
  /** Seconds until the end of the window, if this failure took the last slot or found none. */
  readonly wait: number | undefined
}

/** The maximum number of names that a process remembers. For a forgotten name, a failure costs a few more reads. */
const mostNames = 1000

/** What a process knows about a name in a window. */
interface Seen {
  readonly at: number
  /** Every lower slot is taken, or an attempt in flight will try it. */
  next: number
  /** Announced failures that are not recorded yet. */
  coming: number
}

export function createFailureSlots(
  /** `window` in seconds. */
  { failures, window }: { readonly failures: number; readonly window: number },
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
  const known = createBoundedMap<Seen>(mostNames)
  const slotKey = (name: string, at: number, slot: number): string =>
    keyOf('failure', hashOf(JSON.stringify([issuer, limit, name, at, slot]), runtime))

  function seenOf(name: string, at: number): Seen {
    const seen = known.get(name)
    if (seen?.at === at) return seen
    const fresh = { at, next: 0, coming: 0 }
    known.set(name, fresh)
    return fresh
  }

  /** Finds the first free slot from `from` on by binary search: slots below a taken slot do not stay free. */
  async function firstFree(name: string, at: number, from: number): Promise<number> {
    let free = from
    let taken = failures
    while (free < taken) {
      const middle = (free + taken) >> 1
      if (await store.has(slotKey(name, at, middle))) free = middle + 1
      else taken = middle
    }
    return free
  }

  return {
    waitOf(name) {
      const at = current()
      return after(store.has(slotKey(name, at, failures - 1)), (reached) => (reached ? remaining(at) : undefined))
    },
    reachedHere(name) {
      const at = current()
      const seen = known.get(name)
      return seen?.at === at && seen.next + seen.coming >= failures ? remaining(at) : undefined
    },
    announce(name) {
      const seen = seenOf(name, current())
      seen.coming += 1
      return () => {
        seen.coming -= 1
      }
    },
    async record(name) {
      const at = current()
      const seen = seenOf(name, at)
      // Each attempt tries its own slot before it skips slots of other processes, so no slot stays free.
      let slot = seen.next
      seen.next += 1
      while (slot < failures) {
        if (await store.insert(slotKey(name, at, slot), {}, endOf(at))) {
          return { exceeded: false, wait: slot === failures - 1 ? remaining(at) : undefined }
        }
        slot = await firstFree(name, at, slot + 1)
        seen.next = Math.max(seen.next, slot + 1)
      }
      return { exceeded: true, wait: remaining(at) }
    },
  }
}
