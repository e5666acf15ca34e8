import { OAuthError, tooManyFailures } from '../errors/oauth-error.ts'
import type { Trace } from '../events/recorder.ts'
import { allOf } from '../promises.ts'
import { createClientFailures } from './client-failures.ts'
import { createKeyedQueue, type KeyedQueue } from './keyed-queue.ts'
import type { AbuseControl } from './options.ts'
import { type Admitted, type Attempt, createAdmission } from './password-admission.ts'
import { type Changes, createHeldPlaces, type Settlement } from './settlement.ts'
import type { LimitDeps } from './window-limit.ts'

/** What happens during an attempt. */
interface AttemptSteps<T> {
  /** Checks the password. A result other than `undefined` is a success. */
  readonly check: () => Promise<T | undefined>
  /** Takes over the settlement of a success, to write it together with other records. */
  readonly settleLater?: ((settlement: Settlement) => void) | undefined
}

interface Outcome extends Changes {
  /** Seconds to wait, if the outcome must not be reported. */
  readonly wait?: number
}

/**
 * Limits password attempts.
 *
 * @see docs/guides/abuse-control.md, "The steps of a login"
 */
export interface PasswordLimits {
  /**
   * Checks the password if an attempt is allowed now.
   *
   * @throws OAuthError `slow_down` (429) if an attempt is not allowed yet. The error does not reveal whether the
   * password is right, and the attempt is not counted.
   */
  attempt<T>(who: Attempt, trace: Trace, steps: AttemptSteps<T>): Promise<T | undefined>
}

/** Milliseconds that an attempt waits at most for earlier ones of the same user in this process. */
const maxQueueTime = 10_000

/**
 * Milliseconds after which it no longer waits for a settlement that a caller has taken over: a grant plugin may hang, or
 * check two passwords of the user.
 */
const maxSettleTime = 1000

export function createPasswordLimits(passwords: AbuseControl['passwords'], deps: LimitDeps): PasswordLimits {
  const { store, recorder } = deps
  const { perUserAndAddress, perUser, perClient } = passwords
  const clientFailures = createClientFailures(perClient, deps)
  const admission = createAdmission(passwords, { ...deps, clientFailures })
  // Concurrent logins of one user wait for each other instead of being refused.
  const queues = {
    atAddress: createKeyedQueue(perUserAndAddress.failures, maxQueueTime),
    everywhere: createKeyedQueue(perUser.failures, maxQueueTime),
  }

  const places = createHeldPlaces()

  /** @throws OAuthError `temporarily_unavailable` when earlier attempts of the same user take too long. */
  async function enter(queue: KeyedQueue, name: string): Promise<void> {
    const entered = queue.enter(name)
    if (entered === true) return
    const timer = setTimeout(() => places.leaveAll(name), maxSettleTime)
    const hasEntered = await entered
    clearTimeout(timer)
    if (hasEntered) return
    throw new OAuthError('temporarily_unavailable', 'The service is busy, try again', {
      reason: 'earlier_attempt_pending',
      retryAfter: 1,
    })
  }

  /** Settles a right password. It is refused if the client has reached its limit in the meantime. */
  async function settleSuccess(admitted: Admitted, who: Attempt): Promise<Outcome> {
    const { counters, isKnown } = admitted
    if (isKnown) return { put: [], remove: counters.flatMap((counter) => counter.forget()) }
    // In one trip with the mark for the tokens.
    const [wait, returned] = await allOf([clientFailures.waitOf(who), admission.giveBack(admitted)])
    if (wait !== undefined) return { put: returned, remove: [], wait }
    const { put, remove } = admission.makeKnown(who)
    return { put: [...put, ...returned], remove }
  }

  /** Settles a wrong password. The response does not say that it was wrong if the client has reached its limit. */
  async function settleFailure(admitted: Admitted, who: Attempt, trace: Trace): Promise<Outcome> {
    const { counters, isKnown } = admitted
    // If the storage fails, the numbers stay drawn, as after a crash.
    const wait = isKnown ? undefined : await clientFailures.countFailure(who, trace)
    if (wait !== undefined) return { put: await admission.giveBack(admitted), remove: [], wait }
    const put = counters.flatMap((counter) => {
      const marks = counter.fail()
      const { limit, remaining } = counter
      if (marks.length > 0) recorder.record(trace, { type: 'abuse_limited', limit, retryAfter: remaining })
      return marks
    })
    return { put, remove: [] }
  }

  async function check<T>(
    who: Attempt,
    trace: Trace,
    steps: AttemptSteps<T>,
    hold: () => () => void,
  ): Promise<T | undefined> {
    const admitted = await admission.admit(who)
    let found: T | undefined
    try {
      found = await steps.check()
    } catch (error) {
      // The user service failed, so no password was checked.
      await store.commit({ put: await admission.giveBack(admitted) })
      throw error
    }
    const isRight = found !== undefined
    const { wait, ...changes } = await (isRight ? settleSuccess(admitted, who) : settleFailure(admitted, who, trace))
    if (isRight && wait === undefined && steps.settleLater !== undefined) {
      steps.settleLater({ ...changes, end: hold() })
      return found
    }
    await store.commit(changes)
    // Attempts in flight when the limit trips all get the same 429, right or wrong.
    if (wait !== undefined) throw tooManyFailures(wait)
    return found
  }

  return {
    async attempt(who, trace, steps) {
      const { foldedName, nameAtAddress } = who
      const [queue, name] =
        nameAtAddress === undefined ? [queues.everywhere, foldedName] : [queues.atAddress, nameAtAddress]
      await enter(queue, name)
      let isHeld = false
      const hold = (): (() => void) => {
        isHeld = true
        return places.hold(name, () => queue.leave(name))
      }
      try {
        return await check(who, trace, steps, hold)
      } finally {
        if (!isHeld) queue.leave(name)
      }
    },
  }
}
