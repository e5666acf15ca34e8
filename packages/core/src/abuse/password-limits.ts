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

/** Limits password attempts. */
export interface PasswordLimits {
  /**
   * Runs `tryPassword` if an attempt is allowed now. A result other than `undefined` is a success.
   *
   * @throws OAuthError `slow_down` (429) if an attempt is not allowed yet. The error does not reveal whether the
   * password is right, and the attempt is not counted.
   */
  attempt<T>(who: Attempt, trace: Trace, tryPassword: () => Promise<T | undefined>): Promise<T | undefined>
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
  const localLimit = createBackoffLimit(perUserAndAddress, { limit: 'passwords.perUserAndAddress', ...shared })
  const personLimit = createBackoffLimit(perUser, { limit: 'passwords.perUser', ...shared })
  const clientFailures = createClientFailures(perClient, deps)
  const plans = createPasswordPlans({
    localLimit,
    personLimit,
    clientFailures,
    rememberAddress,
    issuer,
    store,
    runtime,
  })
  // Concurrent logins of one user wait for each other instead of being refused for lack of a permit.
  const localQueue = createKeyedQueue(perUserAndAddress.attempts, maxQueueTime)
  const personQueue = createKeyedQueue(perUser.attempts, maxQueueTime)

  /** Takes the chosen slots, or none. Returns the keys of those that exist. */
  const create = (permits: readonly Permit[]): MaybePromise<readonly string[]> =>
    store.commit({ create: permits.map((permit) => permit.slot()) })
  const giveBack = (permits: readonly Permit[], put: readonly NewRecord[] = []) =>
    store.commit({ put, remove: permits.map(({ key }) => key) })

  /**
   * Takes all permits, or none. Returns `false` if attempts in progress have them, in this or another process.
   *
   * @param first the outcome of the first `create`
   * @throws OAuthError `slow_down` (429) if an attempt is not allowed yet.
   */
  async function take(permits: readonly Permit[], first: MaybePromise<readonly string[]>): Promise<boolean> {
    let taken = await first
    for (let step = 1; step < maxSteps; step += 1) {
      if (taken.length === 0) return true
      const existing = taken
      const chosen = await allOf(permits.map((permit) => !existing.includes(permit.key) || permit.chooseAgain()))
      if (!chosen.every(Boolean)) return false
      taken = await create(permits)
    }
    throw tooManyFailures(1)
  }

  /** Whether the plan is right. If it is not, returns the permits that were taken. */
  async function isConfirmed(
    permits: readonly Permit[],
    first: MaybePromise<readonly string[]>,
    isRight: () => MaybePromise<boolean>,
  ): Promise<boolean> {
    const [read, taken] = await Promise.allSettled([isRight(), first])
    if (read.status === 'fulfilled' && read.value) return true
    if (taken.status === 'fulfilled' && taken.value.length === 0) await giveBack(permits)
    if (read.status === 'rejected') throw read.reason
    if (taken.status === 'rejected') throw taken.reason
    return false
  }

  async function tryOnce<T>(
    who: Attempt,
    { permits, isAtHome, afterSuccess, remember, forget }: Plan,
    trace: Trace,
    tryPassword: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    async function succeed(): Promise<number | undefined> {
      const put = afterSuccess()
      if (isAtHome) {
        await giveBack(permits, put)
        return undefined
      }
      // Without records, which a refusal must not write, both take one trip.
      if (put.length === 0) {
        const [wait] = await allOf([clientFailures.waitOf(who), giveBack(permits)])
        return wait
      }
      let wait: number | undefined
      try {
        wait = await clientFailures.waitOf(who)
      } catch (error) {
        await giveBack(permits)
        throw error
      }
      await giveBack(permits, wait === undefined ? put : [])
      return wait
    }

    async function fail(): Promise<number | undefined> {
      forget()
      const wait = isAtHome ? undefined : await clientFailures.countFailure(who, trace)
      if (wait !== undefined) {
        await giveBack(permits)
        return wait
      }
      const failures = permits.map((permit) => permit.fail())
      await store.commit({ put: failures.flatMap(({ records }) => records) })
      for (const { limit, retryAfter } of failures) {
        if (retryAfter > 0) recorder.record(trace, { type: 'abuse_limited', limit, retryAfter })
      }
      return undefined
    }

    let found: T | undefined
    try {
      found = await tryPassword()
    } catch (error) {
      // The user service failed, so no password was checked.
      await giveBack(permits)
      throw error
    }
    const wait = await (found === undefined ? fail() : succeed())
    // Attempts in flight when the limit trips all get the same 429, right or wrong.
    if (wait !== undefined) throw tooManyFailures(wait)
    if (found !== undefined) remember()
    return found
  }

  return {
    async attempt(who, trace, tryPassword) {
      const { person, personAtAddress } = who

      /**
       * Returns `undefined` if attempts in progress have all permits, or if the plan is outdated.
       *
       * @param isRight checked while the permits are taken
       */
      async function tryWith(plan: Plan, isRight?: () => MaybePromise<boolean>) {
        const { permits } = plan
        try {
          for (const permit of permits) permit.choose()
          const first = create(permits)
          if (isRight !== undefined && !(await isConfirmed(permits, first, isRight))) return undefined
          if (!(await take(permits, first))) return undefined
          return { found: await tryOnce(who, plan, trace, tryPassword) }
        } finally {
          for (const permit of permits) permit.end()
        }
      }

      return inQueue(personAtAddress === undefined ? personQueue : localQueue, personAtAddress ?? person, async () => {
        const guess = plans.guess(who)
        const guessed = guess && (await tryWith(guess, guess.isRight))
        if (guessed !== undefined) return guessed.found
        for (let pause = firstPause; pause < maxQueueTime; pause *= 2) {
          const plan = await plans.planFor(who)
          const tried = await (plan.countsPerson ? inQueue(personQueue, person, () => tryWith(plan)) : tryWith(plan))
          if (tried !== undefined) return tried.found
          await new Promise((resolve) => setTimeout(resolve, pause))
        }
        throw tooManyFailures(1)
      })
    },
  }
}
