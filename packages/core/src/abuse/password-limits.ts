import { tooManyFailures } from '../errors/oauth-error.ts'
import type { Trace } from '../events/recorder.ts'
import { allOf } from '../promises.ts'
import type { MaybePromise } from '../types.ts'
import type { AbuseControl } from './abuse-control.ts'
import { type ClientFailures, createClientFailures } from './client-failures.ts'
import { type Admission, type Admitted, type Attempt, createAdmission } from './password-admission.ts'
import type { Changes, Settlement } from './settlement.ts'
import { createUserQueue, type Place } from './user-queue.ts'
import type { LimitDeps } from './window-limit.ts'

/** What the caller does during an attempt. */
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
  /** Makes the account known at the address, and forgets its failures there, as a right password does. */
  makeKnown(who: Attempt): Promise<void>
}

/** Creates the functions that settle a checked password. */
function createOutcomes(admission: Admission, clientFailures: ClientFailures, { recorder }: LimitDeps) {
  /** Settles a right password. It is refused if the client has reached its limit in the meantime. */
  function ofSuccess(admitted: Admitted, who: Attempt): MaybePromise<Outcome> {
    const { counters, isKnown } = admitted
    return isKnown ? { put: [], remove: counters.flatMap((counter) => counter.forget()) } : ofFirst(admitted, who)
  }

  /** Settles the first right password of an account at an address. */
  async function ofFirst(admitted: Admitted, who: Attempt): Promise<Outcome> {
    // In one trip with the mark for the tokens.
    const [wait, returned] = await allOf([clientFailures.waitOf(who), admission.giveBack(admitted)])
    if (wait !== undefined) return { put: returned, remove: [], wait }
    const { put, remove } = admission.makeKnown(who)
    return { put: [...put, ...returned], remove }
  }

  /** Settles a wrong password. The response does not say that it was wrong if the client has reached its limit. */
  async function ofFailure(admitted: Admitted, who: Attempt, trace: Trace): Promise<Outcome> {
    const { counters, isKnown } = admitted
    // If the storage fails, the numbers stay drawn, as after a crash.
    const wait = isKnown ? undefined : await clientFailures.countFailure(who, trace)
    if (wait !== undefined) return { put: await admission.giveBack(admitted), remove: [], wait }
    const put = counters.flatMap((counter) => {
      const marks = counter.fail()
      if (marks.length > 0)
        recorder.record(trace, { type: 'abuse_limited', limit: counter.limit, retryAfter: counter.remaining() })
      return marks
    })
    return { put, remove: [] }
  }

  return { ofSuccess, ofFailure }
}

export function createPasswordLimits(passwords: AbuseControl['passwords'], deps: LimitDeps): PasswordLimits {
  const { store } = deps
  const clientFailures = createClientFailures(passwords.perClient, deps)
  const admission = createAdmission(passwords, { ...deps, clientFailures })
  const outcomes = createOutcomes(admission, clientFailures, deps)
  const queue = createUserQueue(passwords)

  async function check<T>(who: Attempt, trace: Trace, steps: AttemptSteps<T>, place: Place): Promise<T | undefined> {
    const admitted = await admission.admit(who)
    let result: T | undefined
    try {
      result = await steps.check()
    } catch (error) {
      // The user service failed, so no password was checked.
      await store.commit({ put: await admission.giveBack(admitted) })
      throw error
    }
    const isRight = result !== undefined
    const { wait, ...changes } = await (isRight
      ? outcomes.ofSuccess(admitted, who)
      : outcomes.ofFailure(admitted, who, trace))
    if (isRight && wait === undefined && steps.settleLater !== undefined) {
      steps.settleLater({ ...changes, end: place.hold() })
      return result
    }
    await store.commit(changes)
    // Attempts in flight when the limit trips all get the same 429, right or wrong.
    if (wait !== undefined) throw tooManyFailures(wait)
    return result
  }

  return {
    async attempt(who, trace, steps) {
      const place = await queue.enter(who)
      try {
        return await check(who, trace, steps, place)
      } finally {
        place.leave()
      }
    },
    async makeKnown(who) {
      await store.commit(admission.makeKnown(who))
    },
  }
}
