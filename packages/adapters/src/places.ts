/** Limits on what a server does at once. */
export interface PlaceLimits {
  /** Requests that are processed at once; default 1,000. One more is refused with 503 at once: a queue would have no end. */
  readonly maxRequests?: number
  /**
   * Request bodies that are arriving at once; default 1,000. They are no part of `maxRequests`, because slow clients must not block the others. One more makes the oldest
   * fail with 503. Together with the provider's `bodyLimit` it bounds the memory that bodies take.
   */
  readonly maxBodies?: number
}

/** A request's claim to be processed. */
export interface Place {
  held: boolean
  /** The request lost its place while its body arrived: it must be refused. */
  lost: boolean
}

/** Bounds the requests that are processed at once and, apart from them, the bodies that are still arriving. */
export interface Places {
  /** `undefined` when all places are taken. */
  take(): Place | undefined
  /** The request has ended. */
  give(place: Place): void
  /**
   * Waits for a part of a body. A slow caller must not block the others, so the request gives up its place until the part is there. Rejects when all places are then
   * taken, or when `maxBodies` newer bodies are arriving.
   *
   * @param isLast whether nothing of the body follows this part
   */
  whileWaiting<T>(place: Place, arrival: Promise<T>, isLast: (part: T) => boolean): Promise<T>
}

/** Milliseconds until surplus bodies are dropped: those of a burst that are already in the process leave by themselves. */
const grace = 10

function limitOf(name: keyof PlaceLimits, limit = 1000): number {
  if (Number.isSafeInteger(limit) && limit >= 1) return limit
  throw new TypeError(`${name} must be a whole number of at least 1`)
}

const overloaded = (): Error => new Error('The server is overloaded')

/** @throws TypeError when a limit is not a whole number of at least 1. */
export function createPlaces(limits: PlaceLimits): Places {
  const maxRequests = limitOf('maxRequests', limits.maxRequests)
  const maxBodies = limitOf('maxBodies', limits.maxBodies)
  let taken = 0
  // In the order in which the bodies began, each with what rejects its pending read.
  const arriving = new Map<Place, (failure: Error) => void>()
  let trimming = false

  function release(place: Place): void {
    if (place.held) taken -= 1
    place.held = false
  }

  /** The oldest give way: an attacker who keeps bodies open must not lock out the callers who come after. */
  function trim(): void {
    trimming = false
    for (const [place, reject] of arriving) {
      if (arriving.size <= maxBodies) return
      arriving.delete(place)
      place.lost = true
      reject(overloaded())
    }
  }

  return {
    take() {
      if (taken >= maxRequests) return undefined
      taken += 1
      return { held: true, lost: false }
    },
    give(place) {
      release(place)
      arriving.delete(place)
    },
    whileWaiting(place, arrival, isLast) {
      if (place.lost) return Promise.reject(overloaded())
      release(place)
      return new Promise((resolve, reject) => {
        arriving.set(place, reject)
        if (arriving.size > maxBodies && !trimming) {
          trimming = true
          setTimeout(trim, grace)
        }
        arrival.then((part) => {
          if (place.lost) return
          if (isLast(part)) arriving.delete(place)
          if (taken >= maxRequests) {
            place.lost = true
            arriving.delete(place)
            return reject(overloaded())
          }
          taken += 1
          place.held = true
          resolve(part)
        }, reject)
      })
    },
  }
}
