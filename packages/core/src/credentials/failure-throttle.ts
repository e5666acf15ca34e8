import { OAuthError } from '../errors/oauth-error.ts'
import { hashOf, keyOf } from '../records/keys.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'

/** Failures that are tolerated in one window of time. */
export interface FailureLimit {
  /** Failures, at least 1. */
  readonly limit: number
  /** Seconds. */
  readonly window: number
}

/**
 * Counts failures with nothing but an atomic insert: the n-th failure of a window takes the n-th numbered slot, so the count is exact across
 * processes, a look costs one read, and every slot goes away with its window. Nobody is locked out for longer than that.
 */
export interface FailureThrottle {
  /** @throws OAuthError `slow_down`, 429, when the limit is reached. */
  assertBelowLimit(name: string, limit: FailureLimit): Promise<void>
  recordFailure(name: string, limit: FailureLimit): Promise<void>
}

export function createFailureThrottle(store: Store, runtime: Runtime): FailureThrottle {
  const windowOf = ({ window }: FailureLimit): number => Math.floor(runtime.now() / window)
  const slotKey = (name: string, window: number, slot: number): string =>
    keyOf('failure', hashOf(`${name}\n${window}\n${slot}`, runtime))

  return {
    async assertBelowLimit(name, limit) {
      const window = windowOf(limit)
      if (!(await store.has(slotKey(name, window, limit.limit - 1)))) return
      throw new OAuthError('slow_down', 'Too many failed attempts, try again later', {
        reason: 'too_many_failures',
        status: 429,
        retryAfter: (window + 1) * limit.window - runtime.now(),
      })
    },
    async recordFailure(name, limit) {
      const window = windowOf(limit)
      const expiresAt = (window + 1) * limit.window
      // Slots are taken from the bottom, so the first free one can be halved for.
      let free = 0
      let taken = limit.limit
      while (free < taken) {
        const middle = (free + taken) >> 1
        if (await store.has(slotKey(name, window, middle))) free = middle + 1
        else taken = middle
      }
      for (let slot = free; slot < limit.limit; slot += 1) {
        if (await store.insert(slotKey(name, window, slot), {}, expiresAt)) return
      }
    },
  }
}
