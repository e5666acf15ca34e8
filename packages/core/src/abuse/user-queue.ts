import { OAuthError } from '../errors/oauth-error.ts'
import type { MaybePromise } from '../types.ts'
import type { AbuseControl } from './abuse-control.ts'
import { createKeyedQueue, type KeyedQueue } from './keyed-queue.ts'
import type { Attempt } from './password-admission.ts'
import { createHeldPlaces } from './settlement.ts'

/** Milliseconds that an attempt waits at most for earlier ones of the same user in this process. */
const maxQueueTime = 10_000

/**
 * Milliseconds after which an attempt no longer waits for a settlement that a caller has taken over: a grant plugin
 * may hang, or check two passwords of the user.
 */
const maxSettleTime = 1000

/** The place of an attempt among those of its user. */
export interface Place {
  /** Ends the attempt. The place remains if it is held. */
  leave(): void
  /** Keeps the place after the end of the attempt. Returns a function that gives it up. */
  hold(): () => void
}

/** Lets concurrent logins of one user wait for each other instead of being refused. */
export interface UserQueue {
  /** @throws OAuthError `temporarily_unavailable` when earlier attempts of the same user take too long. */
  enter(who: Attempt): MaybePromise<Place>
}

export function createUserQueue({ perUserAndAddress, perUser }: AbuseControl['passwords']): UserQueue {
  const atAddress = createKeyedQueue(perUserAndAddress.failures, maxQueueTime)
  const everywhere = createKeyedQueue(perUser.failures, maxQueueTime)
  const places = createHeldPlaces()

  /** Waits for earlier attempts, but not long for those that only hold a place. */
  async function afterEarlier(entering: MaybePromise<boolean>, queue: KeyedQueue, name: string): Promise<Place> {
    const timer = setTimeout(() => places.leaveAll(name), maxSettleTime)
    const hasEntered = await entering
    clearTimeout(timer)
    if (hasEntered) return placeIn(queue, name)
    throw new OAuthError('temporarily_unavailable', 'The service is busy, try again', {
      reason: 'earlier_attempt_pending',
      retryAfter: 1,
    })
  }

  function placeIn(queue: KeyedQueue, name: string): Place {
    let isHeld = false
    return {
      leave() {
        if (!isHeld) queue.leave(name)
      },
      hold() {
        isHeld = true
        return places.hold(name, () => queue.leave(name))
      },
    }
  }

  return {
    enter({ foldedName, nameAtAddress }) {
      const queue = nameAtAddress === undefined ? everywhere : atAddress
      const name = nameAtAddress ?? foldedName
      const entering = queue.enter(name)
      return entering === true ? placeIn(queue, name) : afterEarlier(entering, queue, name)
    },
  }
}
