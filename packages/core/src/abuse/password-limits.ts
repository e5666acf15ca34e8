import { OAuthError, tooManyFailures } from '../errors/oauth-error.ts'
import type { Trace } from '../events/recorder.ts'
import { allOf } from '../promises.ts'
import type { NewRecord } from '../records/commit-records.ts'
import { hashOf, keyOf } from '../records/keys.ts'
import { isObject } from '../records/schemas.ts'
import { addressGroupOf } from './address-group.ts'
import { createBackoffLimit, type Permit } from './backoff-limit.ts'
import { createClientFailures } from './client-failures.ts'
import { createKeyedQueue, type KeyedQueue } from './keyed-queue.ts'
import type { AbuseControl } from './options.ts'
import type { LimitDeps } from './window-limit.ts'

/** A password attempt. */
export interface Attempt {
  /** The user name in its folded form, the same for all spellings. */
  readonly person: string
  /** The user name as presented. If the host distinguishes spellings, each can be a different user. */
  readonly spelling: string
  readonly clientId: string
  /** Further parameters by which the host may select the user (`idp:`, `tenant:`); `undefined` if there are none. */
  readonly directory: string | undefined
  /** `undefined` if the adapter does not report it. Then failures are counted per user only. */
  readonly address: string | undefined
}

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

/** Encodes a name so that it cannot collide with other keys, whatever characters it contains. */
const plain = (name: string): string => JSON.stringify([name])

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
  if (!(await queue.enter(key))) {
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

/** How an attempt is counted. */
interface Plan {
  readonly permits: readonly Permit[]
  /** Whether the attempt counts for the user over all addresses. */
  readonly countsPerson: boolean
  readonly isAtHome: boolean
  /** What a success writes. */
  afterSuccess(): readonly NewRecord[]
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
  // Concurrent logins of one user wait for each other instead of being refused for lack of a permit.
  const localQueue = createKeyedQueue(perUserAndAddress.attempts, maxQueueTime)
  const personQueue = createKeyedQueue(perUser.attempts, maxQueueTime)

  /**
   * Returns the permits that this attempt needs.
   *
   * Two spellings of a name, or one name in two directories (`tenant:`, `idp:`), can be two users, one of them the
   * attacker. Therefore an attempt is counted under the folded name, whose failures no login forgets. Only if this
   * exact spelling has logged in before, without a directory, is it counted separately, and a login forgets its
   * failures.
   *
   * @param personAtAddress key of the folded name at the address group; `undefined` if the address is unknown
   * @throws OAuthError `slow_down` (429) if an attempt is not allowed yet.
   */
  async function planFor(who: Attempt, personAtAddress: string | undefined): Promise<Plan> {
    const { person, spelling, directory } = who
    const account = [issuer, personAtAddress ?? plain(person), directory, spelling]
    const knownKey = keyOf('known', hashOf(JSON.stringify(account), runtime))
    const narrow = personAtAddress === undefined ? personLimit : localLimit
    const everySpelling = plain(personAtAddress ?? person)
    const asWritten =
      directory === undefined ? JSON.stringify(['as written', personAtAddress ?? person, spelling]) : undefined
    const [known, clientWait, hint, hintAsWritten, personHint] = await allOf([
      store.get(knownKey, isObject),
      clientFailures.waitOf(who),
      narrow.hintOf(everySpelling),
      asWritten === undefined ? undefined : narrow.hintOf(asWritten),
      personAtAddress === undefined ? undefined : personLimit.hintOf(plain(person)),
    ])
    const isKnown = known !== undefined
    // At an address where the user has logged in before, failures from elsewhere do not count: an attacker cannot lock
    // the user out.
    const isAtHome = isKnown && personAtAddress !== undefined
    const forgets = isKnown && asWritten !== undefined
    const countsPerson = personAtAddress !== undefined && !isKnown
    const needed = [
      forgets
        ? { backoff: narrow, name: asWritten, hint: hintAsWritten }
        : { backoff: narrow, name: everySpelling, hint },
      ...(countsPerson ? [{ backoff: personLimit, name: plain(person), hint: personHint }] : []),
    ]
    for (const { backoff, hint } of needed) backoff.assertAllowed(hint)
    if (!isAtHome && clientWait !== undefined) throw tooManyFailures(clientWait)
    const attempt = runtime.base64url(runtime.randomBytes(12))
    const permits = needed.map(({ backoff, name, hint }) => backoff.permit(name, hint, attempt))
    return {
      permits,
      countsPerson,
      isAtHome,
      afterSuccess: () => [
        ...(forgets ? permits.flatMap((permit) => permit.reset()) : []),
        ...(isKnown ? [] : [{ key: knownKey, value: {}, expiresAt: runtime.now() + rememberAddress }]),
      ],
    }
  }

  /**
   * Takes all permits, or none. Returns `false` if attempts in progress have them, in this or another process.
   *
   * @throws OAuthError `slow_down` (429) if an attempt is not allowed yet.
   */
  async function take(permits: readonly Permit[]): Promise<boolean> {
    for (const permit of permits) permit.choose()
    for (let step = 0; step < maxSteps; step += 1) {
      const taken = await store.commit({ create: permits.map((permit) => permit.slot()) })
      if (taken.length === 0) return true
      const chosen = await allOf(permits.map((permit) => !taken.includes(permit.key) || permit.chooseAgain()))
      if (!chosen.every(Boolean)) return false
    }
    throw tooManyFailures(1)
  }

  async function tryOnce<T>(
    who: Attempt,
    { permits, isAtHome, afterSuccess }: Plan,
    trace: Trace,
    tryPassword: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const giveBack = (put: readonly NewRecord[] = []) => store.commit({ put, remove: permits.map(({ key }) => key) })
    const settle = async (failed: boolean) => (isAtHome ? undefined : clientFailures.settle(who, failed, trace))

    async function succeed(): Promise<number | undefined> {
      const put = afterSuccess()
      // Without records, which a refusal must not write, both take one trip.
      if (put.length === 0) {
        const [wait] = await allOf([settle(false), giveBack()])
        return wait
      }
      let wait: number | undefined
      try {
        wait = await settle(false)
      } catch (error) {
        await giveBack()
        throw error
      }
      await giveBack(wait === undefined ? put : [])
      return wait
    }

    async function fail(): Promise<number | undefined> {
      const wait = await settle(true)
      if (wait !== undefined) {
        await giveBack()
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
      await giveBack()
      throw error
    }
    const wait = await (found === undefined ? fail() : succeed())
    // Attempts in flight when the limit trips all get the same 429, right or wrong.
    if (wait !== undefined) throw tooManyFailures(wait)
    return found
  }

  return {
    async attempt(who, trace, tryPassword) {
      const { person, address } = who
      const personAtAddress = address === undefined ? undefined : JSON.stringify([person, addressGroupOf(address)])

      /** Returns `undefined` if attempts in progress have all permits. */
      async function tryWith(plan: Plan) {
        try {
          if (!(await take(plan.permits))) return undefined
          return { found: await tryOnce(who, plan, trace, tryPassword) }
        } finally {
          for (const permit of plan.permits) permit.end()
        }
      }

      return inQueue(personAtAddress === undefined ? personQueue : localQueue, personAtAddress ?? person, async () => {
        for (let pause = firstPause; pause < maxQueueTime; pause *= 2) {
          const plan = await planFor(who, personAtAddress)
          const tried = await (plan.countsPerson ? inQueue(personQueue, person, () => tryWith(plan)) : tryWith(plan))
          if (tried !== undefined) return tried.found
          await new Promise((resolve) => setTimeout(resolve, pause))
        }
        throw tooManyFailures(1)
      })
    },
  }
}
