import { OAuthError, tooManyFailures } from '../errors/oauth-error.ts'
import type { Trace } from '../events/recorder.ts'
import { allOf } from '../promises.ts'
import type { NewRecord } from '../records/envelope.ts'
import type { MaybePromise } from '../types.ts'
import { createBackoffLimit, type Permit } from './backoff-limit.ts'
import { createClientFailures } from './client-failures.ts'
import { createKeyedQueue, type KeyedQueue } from './keyed-queue.ts'
import type { AbuseControl } from './options.ts'
import { type Attempt, createPasswordPlans, type Plan } from './password-plans.ts'
import type { LimitDeps } from './window-limit.ts'

/** Checks a password. A result other than `undefined` is a success. */
type TryPassword<T> = () => Promise<T | undefined>

/**
 * Limits password attempts.
 *
 * @see docs/guides/abuse-control.md, "The steps of a login"
 */
export interface PasswordLimits {
  /**
   * Runs `tryPassword` if an attempt is allowed now.
   *
   * @throws OAuthError `slow_down` (429) if an attempt is not allowed yet. The error does not reveal whether the
   * password is right, and the attempt is not counted.
   */
  attempt<T>(who: Attempt, trace: Trace, tryPassword: TryPassword<T>): Promise<T | undefined>
}

/** The maximum number of slots that are tried for a permit. More are tried only if many processes crashed. */
const maxSteps = 100

/** Milliseconds that an attempt waits at most for earlier ones of the same user. */
const maxQueueTime = 10_000

/**
 * Milliseconds after which an attempt first tries again to get a permit from attempts in progress in other processes.
 * Each further pause is twice as long.
 */
const firstPause = 20

/** @throws OAuthError `temporarily_unavailable` when earlier attempts of the same key take too long. */
async function inQueue<T>(queue: KeyedQueue, key: string, task: () => Promise<T>): Promise<T> {
  const entered = queue.enter(key)
  if (entered !== true && !(await entered)) {
    throw new OAuthError('temporarily_unavailable', 'The service is busy, try again', {
      reason: 'earlier_attempt_pending',
      retryAfter: 1,
    })
  }
  try {
    return await task()
  } finally {
    queue.leave(key)
  }
}

export function createPasswordLimits(
  { perUserAndAddress, perUser, perClient, forgetAfter, rememberAddress }: AbuseControl['passwords'],
  deps: LimitDeps,
): PasswordLimits {
  const { issuer, store, runtime, recorder } = deps
  const shared = { forgetAfter, issuer, store, runtime }
  const clientFailures = createClientFailures(perClient, deps)
  const plans = createPasswordPlans({
    perUserAndAddress: createBackoffLimit(perUserAndAddress, { limit: 'passwords.perUserAndAddress', ...shared }),
    perUser: createBackoffLimit(perUser, { limit: 'passwords.perUser', ...shared }),
    clientFailures,
    rememberAddress,
    issuer,
    store,
    runtime,
  })
  // Concurrent logins of one user wait for each other instead of being refused for lack of a permit.
  const queues = {
    perUserAndAddress: createKeyedQueue(perUserAndAddress.attempts, maxQueueTime),
    perUser: createKeyedQueue(perUser.attempts, maxQueueTime),
  }

  /** Takes the chosen slots, or none. Returns the keys of those that exist. */
  const createSlots = (permits: readonly Permit[]): MaybePromise<readonly string[]> =>
    store.commit({ create: permits.map((permit) => permit.record()) })
  const returnSlots = (permits: readonly Permit[], put: readonly NewRecord[] = []) =>
    store.commit({ put, remove: permits.map(({ key }) => key) })

  /** Whether a remembered plan is current. If it is not, returns the slots that were taken for it. */
  async function isConfirmed({ permits, isCurrent }: Plan, creating: ReturnType<typeof createSlots>): Promise<boolean> {
    const [current, existing] = await Promise.allSettled([isCurrent?.(), creating])
    if (current.status === 'fulfilled' && current.value) return true
    if (existing.status === 'fulfilled' && existing.value.length === 0) await returnSlots(permits)
    if (current.status === 'rejected') throw current.reason
    if (existing.status === 'rejected') throw existing.reason
    return false
  }

  /**
   * Takes the slots of all permits, or none. Returns `false` if the plan is outdated, or if attempts in progress have the
   * slots, in this or another process.
   *
   * @throws OAuthError `slow_down` (429) if an attempt is not allowed yet.
   */
  async function takeSlots(plan: Plan): Promise<boolean> {
    const { permits } = plan
    for (const permit of permits) permit.choose()
    const creating = createSlots(permits)
    if (plan.isCurrent !== undefined && !(await isConfirmed(plan, creating))) return false
    let existing = await creating
    for (let step = 1; step < maxSteps; step += 1) {
      if (existing.length === 0) return true
      const conflicts = existing
      const chosen = await allOf(permits.map((permit) => !conflicts.includes(permit.key) || permit.chooseAgain()))
      if (!chosen.every(Boolean)) return false
      existing = await createSlots(permits)
    }
    throw tooManyFailures(1)
  }

  /** Ends an attempt with the right password. Returns the seconds to wait if the client has reached its limit. */
  async function settleSuccess({ permits, origin, succeed }: Plan, who: Attempt): Promise<number | undefined> {
    const { records, remember } = succeed()
    let wait: number | undefined
    if (origin === 'known address') {
      await returnSlots(permits, records)
    } else if (records.length === 0) {
      // No record depends on the limit, so both take one trip.
      const [late] = await allOf([clientFailures.waitOf(who), returnSlots(permits)])
      wait = late
    } else {
      // A refusal must not write the records, so the limit is read first.
      let put: readonly NewRecord[] = []
      try {
        wait = await clientFailures.waitOf(who)
        if (wait === undefined) put = records
      } finally {
        await returnSlots(permits, put)
      }
    }
    if (wait === undefined) remember()
    return wait
  }

  /** Ends an attempt with a wrong password. Returns the seconds to wait if the client has reached its limit. */
  async function settleFailure(plan: Plan, who: Attempt, trace: Trace): Promise<number | undefined> {
    const { permits, origin } = plan
    plan.forget()
    // If the storage fails, the slots stay, as after a crash.
    const wait = origin === 'known address' ? undefined : await clientFailures.countFailure(who, trace)
    if (wait !== undefined) {
      await returnSlots(permits)
      return wait
    }
    const failures = permits.map((permit) => permit.fail())
    await store.commit({ put: failures.flatMap(({ records }) => records) })
    for (const { limit, retryAfter } of failures) {
      if (retryAfter > 0) recorder.record(trace, { type: 'abuse_limited', limit, retryAfter })
    }
    return undefined
  }

  /** Checks the password of an attempt whose slots are taken. */
  async function check<T>(plan: Plan, who: Attempt, trace: Trace, tryPassword: TryPassword<T>): Promise<T | undefined> {
    let found: T | undefined
    try {
      found = await tryPassword()
    } catch (error) {
      // The user service failed, so no password was checked.
      await returnSlots(plan.permits)
      throw error
    }
    const wait = await (found === undefined ? settleFailure(plan, who, trace) : settleSuccess(plan, who))
    // Attempts in flight when the limit trips all get the same 429, right or wrong.
    if (wait !== undefined) throw tooManyFailures(wait)
    return found
  }

  return {
    async attempt(who, trace, tryPassword) {
      const { foldedName, nameAtAddress } = who

      /** Returns `undefined` if another plan is needed, because the slots of this one were not taken. */
      async function tryWith(plan: Plan) {
        try {
          return (await takeSlots(plan)) ? { found: await check(plan, who, trace, tryPassword) } : undefined
        } finally {
          for (const permit of plan.permits) permit.end()
        }
      }

      const [queue, name] =
        nameAtAddress === undefined ? [queues.perUser, foldedName] : [queues.perUserAndAddress, nameAtAddress]
      return inQueue(queue, name, async () => {
        const remembered = plans.remembered(who)
        const tried = remembered && (await tryWith(remembered))
        if (tried !== undefined) return tried.found
        for (let pause = firstPause; pause < maxQueueTime; pause *= 2) {
          const plan = await plans.read(who)
          const isForUser = plan.origin === 'new address'
          const tried = await (isForUser ? inQueue(queues.perUser, foldedName, () => tryWith(plan)) : tryWith(plan))
          if (tried !== undefined) return tried.found
          await new Promise((resolve) => setTimeout(resolve, pause))
        }
        throw tooManyFailures(1)
      })
    },
  }
}
