/** Concurrency limits of a server. */
export interface ConcurrencyOptions {
  /** Maximum number of concurrent requests; default 1,000. Further requests get 503 immediately and are not queued. */
  readonly maxRequests?: number | undefined
  /**
   * Maximum number of request bodies that arrive concurrently; default 1,000. They do not count towards `maxRequests`,
   * because slow clients must not block others. Beyond the limit, the oldest body fails with 503. Together with the
   * limit on the size of a body (`bodyLimit` of a provider), this limits the memory for bodies.
   */
  readonly maxBodies?: number | undefined
}

/** One of the `maxRequests` slots, acquired by a request. */
export interface Slot {
  held: boolean
  /** The request lost its slot while its body was arriving and must be rejected. */
  evicted: boolean
  /** The request has ended. It takes no slot again, even if the rest of its body arrives later. */
  ended: boolean
}

/** Limits the number of concurrent requests and, separately, of bodies that are still arriving. */
export interface ConcurrencyLimit {
  /** Returns `undefined` when no slot is free. */
  acquire(): Slot | undefined
  /** Releases the slot when the request has ended. */
  release(slot: Slot): void
  /**
   * Waits for a chunk of a body. A slow client must not block others, so the request releases its slot until the chunk
   * arrives. Rejects when no slot is then free, or when `maxBodies` newer bodies are arriving.
   *
   * @param isLast whether the chunk is the end of the body
   */
  releaseWhile<T>(slot: Slot, arrival: Promise<T>, isLast: (chunk: T) => boolean): Promise<T>
}

/** Milliseconds until excess bodies are dropped. Those of a burst that have already arrived complete in this time. */
const evictionDelay = 10

function limitOf(name: keyof ConcurrencyOptions, limit = 1000): number {
  if (Number.isSafeInteger(limit) && limit >= 1) return limit
  throw new TypeError(`${name} must be a whole number of at least 1`)
}

const overloaded = (): Error => new Error('The server is overloaded')

/** @throws TypeError when a limit is not a whole number of at least 1. */
export function createConcurrencyLimit(limits: ConcurrencyOptions): ConcurrencyLimit {
  const maxRequests = limitOf('maxRequests', limits.maxRequests)
  const maxBodies = limitOf('maxBodies', limits.maxBodies)
  let taken = 0
  // In the order in which the bodies began; each value rejects the pending read.
  const arriving = new Map<Slot, (failure: Error) => void>()
  let trimPending = false

  function free(slot: Slot): void {
    if (slot.held) taken -= 1
    slot.held = false
  }

  /** Drops the oldest bodies: an attacker who keeps bodies open must not lock out later clients. */
  function trim(): void {
    trimPending = false
    for (const [slot, reject] of arriving) {
      if (arriving.size <= maxBodies) return
      arriving.delete(slot)
      slot.evicted = true
      reject(overloaded())
    }
  }

  return {
    acquire() {
      if (taken >= maxRequests) return undefined
      taken += 1
      return { held: true, evicted: false, ended: false }
    },
    release(slot) {
      slot.ended = true
      free(slot)
      arriving.delete(slot)
    },
    releaseWhile(slot, arrival, isLast) {
      if (slot.evicted) return Promise.reject(overloaded())
      if (slot.ended) return arrival
      free(slot)
      return new Promise((resolve, reject) => {
        arriving.set(slot, reject)
        if (arriving.size > maxBodies && !trimPending) {
          trimPending = true
          setTimeout(trim, evictionDelay)
        }
        arrival.then((chunk) => {
          if (slot.evicted) return
          if (slot.ended) return resolve(chunk)
          if (isLast(chunk)) arriving.delete(slot)
          if (taken >= maxRequests) {
            slot.evicted = true
            arriving.delete(slot)
            return reject(overloaded())
          }
          taken += 1
          slot.held = true
          resolve(chunk)
        }, reject)
      })
    },
  }
}
