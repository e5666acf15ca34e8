/** Limits how many operations are in progress, in all and for each key, so that slow hosts leave places for others. */
export interface Bulkhead {
  /**
   * Takes a place. Returns the function that gives it back, or `undefined` if there is none.
   *
   * @param now epoch seconds
   */
  enter(key: string, now: number): (() => void) | undefined
}

interface Place {
  readonly key: string
  readonly since: number
}

/** Seconds after which a place is free again: an operation that a Worker ends with its request never settles. */
const lostAfter = 60

export function createBulkhead({ all, perKey }: { readonly all: number; readonly perKey: number }): Bulkhead {
  // The oldest place is the first.
  const places = new Set<Place>()
  const counts = new Map<string, number>()

  function leave(place: Place): void {
    if (!places.delete(place)) return
    const left = (counts.get(place.key) ?? 1) - 1
    if (left === 0) counts.delete(place.key)
    else counts.set(place.key, left)
  }

  const isFull = (key: string): boolean => places.size >= all || (counts.get(key) ?? 0) >= perKey

  return {
    enter(key, now) {
      if (isFull(key)) for (const place of [...places]) if (now >= place.since + lostAfter) leave(place)
      if (isFull(key)) return undefined
      const place = { key, since: now }
      places.add(place)
      counts.set(key, (counts.get(key) ?? 0) + 1)
      return () => leave(place)
    },
  }
}
