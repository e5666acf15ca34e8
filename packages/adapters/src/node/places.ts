/** Whether a request has one of the places, of which there are only so many. */
export interface Place {
  held: boolean
  /** It gave its place up while its body came in, and found none again. */
  lost: boolean
}

/** The bound on requests under way. */
export interface Places {
  /** `undefined` when all are taken. */
  take(): Place | undefined
  give(place: Place): void
  /** What a body does not take: who sends slowly, or nothing any more, keeps nobody else out. */
  whileWaiting<T>(place: Place, arrival: Promise<T>): Promise<T>
}

/** @throws TypeError when the number is no whole number of at least 1. */
export function createPlaces(most: number): Places {
  if (!Number.isSafeInteger(most) || most < 1) throw new TypeError('maxRequests must be a whole number of at least 1')
  let taken = 0
  function give(place: Place): void {
    if (place.held) taken -= 1
    place.held = false
  }
  return {
    take() {
      if (taken >= most) return undefined
      taken += 1
      return { held: true, lost: false }
    },
    give,
    async whileWaiting(place, arrival) {
      give(place)
      const arrived = await arrival
      if (taken >= most) {
        place.lost = true
        throw new Error('Too many requests are under way')
      }
      taken += 1
      place.held = true
      return arrived
    },
  }
}
