/** Concurrency limits of a server. */
export interface PlaceLimits {
  /** Maximum number of concurrent requests; default 1,000. Further requests get 503 immediately and are not queued. */
  readonly maxRequests?: number
  /**
   * Maximum number of request bodies that arrive concurrently; default 1,000. They do not count towards `maxRequests`,
   * because slow clients must not block others. Beyond the limit, the oldest body fails with 503. Together with the
   * provider's `bodyLimit`, this limits the memory for bodies.
   */
  readonly maxBodies?: number
}

/** One of the `maxRequests` places, taken by a request. */
export interface Place {
  held: boolean
  /** The request lost its place while its body was arriving and must be refused. */
  lost: boolean
}

/** Limits the number of concurrent requests and, separately, of bodies that are still arriving. */
export interface Places {
  /** Returns `undefined` when all places are taken. */
  take(): Place | undefined
  /** Returns the place when the request has ended. */
  give(place: Place): void
  /**
   * Waits for a chunk of a body. A slow client must not block others, so the request gives up its place until the chunk
   * arrives. Rejects when all places are then taken, or when `maxBodies` newer bodies are arriving.
   *
   * @param isLast whether the chunk is the end of the body
   */
  whileWaiting<T>(place: Place, arrival: Promise<T>, isLast: (part: T) => boolean): Promise<T>
}

/** Milliseconds until excess bodies are dropped. Those of a burst that have already arrived complete in this time. */
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
  // In the order in which the bodies began; each value rejects the pending read.
  const arriving = new Map<Place, (failure: Error) => void>()
  let trimming = false

  function release(place: Place): void {
    if (place.held) taken -= 1
    place.held = false
  }

  /** Drops the oldest bodies: an attacker who keeps bodies open must not lock out later clients. */
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
