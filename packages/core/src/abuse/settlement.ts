import type { NewRecord } from '../records/envelope.ts'
import type { RecordChanges, Store } from '../records/store.ts'
import type { MaybePromise } from '../types.ts'

/** What the outcome of an attempt changes in the storage. */
export interface Changes {
  readonly put: readonly NewRecord[]
  /** The keys of the records to remove. */
  readonly remove: readonly string[]
}

/** The changes of a right password. */
export interface Settlement extends Changes {
  /** Call it when the changes are written, or cannot be. */
  end(): void
}

async function endAfter<T>(written: MaybePromise<T>, settlements: readonly Settlement[]): Promise<T> {
  try {
    return await written
  } finally {
    for (const { end } of settlements) end()
  }
}

/** Writes settlements in the commit of a request. */
export function settle(store: Store, settlements: readonly Settlement[], changes: RecordChanges) {
  const [first, ...others] = settlements
  if (first === undefined) return store.commit(changes)
  const { create, put = [] } = changes
  if (others.length === 0) {
    return endAfter(store.commit({ create, put: [...put, ...first.put], remove: first.remove }), settlements)
  }
  // A grant may check two passwords of one user, and a commit contains each key once.
  const records = new Map([...put, ...settlements.flatMap((each) => each.put)].map((record) => [record.key, record]))
  const removed = new Set(settlements.flatMap((each) => each.remove).filter((key) => !records.has(key)))
  return endAfter(store.commit({ create, put: [...records.values()], remove: [...removed] }), settlements)
}

/** The places in a queue of attempts whose settlement a caller has taken over. */
export interface HeldPlaces {
  /** Returns a function that leaves the place, once. */
  hold(key: string, leave: () => void): () => void
  /** Leaves all places of a key. */
  leaveAll(key: string): void
}

export function createHeldPlaces(): HeldPlaces {
  const held = new Map<string, Set<() => void>>()
  return {
    hold(key, leave) {
      const places = held.get(key) ?? new Set()
      const leaveOnce = (): void => {
        if (!places.delete(leaveOnce)) return
        if (places.size === 0) held.delete(key)
        leave()
      }
      held.set(key, places.add(leaveOnce))
      return leaveOnce
    },
    leaveAll(key) {
      for (const leave of [...(held.get(key) ?? [])]) leave()
    },
  }
}
