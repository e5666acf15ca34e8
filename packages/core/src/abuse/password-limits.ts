import { OAuthError, tooManyFailures } from '../errors/oauth-error.ts'
import type { Trace } from '../events/recorder.ts'
import { allOf } from '../promises.ts'
import { hashOf, keyOf } from '../records/keys.ts'
import { isObject } from '../records/schemas.ts'
import type { MaybePromise } from '../types.ts'
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

/** A permit and the name of its limit. */
interface Held {
  readonly limit: string
  readonly permit: Permit
}

const releaseAll = (held: readonly Held[]): MaybePromise<unknown> => allOf(held.map(({ permit }) => permit.release()))

/** Milliseconds that an attempt waits at most for earlier ones of the same user. */
const maxQueueTime = 10_000

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

export function createPasswordLimits(
  { perUserAndAddress, perUser, perClient, forgetAfter, rememberAddress }: AbuseControl['passwords'],
  deps: LimitDeps,
): PasswordLimits {
  const { issuer, store, runtime, recorder } = deps
  const names = {
    perUserAndAddress: 'passwords.perUserAndAddress',
    perUser: 'passwords.perUser',
  } as const
  const localLimit = createBackoffLimit(perUserAndAddress, {
    limit: names.perUserAndAddress,
    forgetAfter,
    issuer,
    store,
    runtime,
  })
  const personLimit = createBackoffLimit(perUser, { limit: names.perUser, forgetAfter, issuer, store, runtime })
  const clientFailures = createClientFailures(perClient, deps)
  // Concurrent logins of one user wait for each other instead of being refused for lack of a permit.
  const localQueue = createKeyedQueue(perUserAndAddress.attempts, maxQueueTime)
  const personQueue = createKeyedQueue(perUser.attempts, maxQueueTime)
  // Attempts search for a free slot one at a time. Otherwise one could overtake another, which would then find no slot
  // although one is free.
  const acquiringQueue = createKeyedQueue(1, maxQueueTime)

  /**
   * Takes the permits that this attempt needs: all of them, or none.
   *
   * Two spellings of a name, or one name in two directories (`tenant:`, `idp:`), can be two users, one of them the
   * attacker. Therefore an attempt is counted under the folded name, whose failures no login forgets. Only if this
   * exact spelling has logged in before, without a directory, is it counted separately, and a login forgets its
   * failures.
   *
   * @param personAtAddress key of the folded name at the address group; `undefined` if the address is unknown
   */
  async function permitsFor(who: Attempt, personAtAddress: string | undefined, knownKey: string) {
    const { person, spelling, directory } = who
    const ofPerson = { limit: names.perUser, backoff: personLimit }
    const narrow = personAtAddress === undefined ? ofPerson : { limit: names.perUserAndAddress, backoff: localLimit }
    const everySpelling = plain(personAtAddress ?? person)
    const asWritten =
      directory === undefined ? JSON.stringify(['as written', personAtAddress ?? person, spelling]) : undefined
    const [known, clientWait, hint, hintAsWritten, personHint] = await allOf([
      store.get(knownKey, isObject),
      clientFailures.waitOf(who),
      narrow.backoff.hintOf(everySpelling),
      asWritten === undefined ? undefined : narrow.backoff.hintOf(asWritten),
      personAtAddress === undefined ? undefined : personLimit.hintOf(plain(person)),
    ])
    const isKnown = known !== undefined
    // At an address where the user has logged in before, failures from elsewhere do not count: an attacker cannot lock
    // the user out.
    const isAtHome = isKnown && personAtAddress !== undefined
    const forgets = isKnown && asWritten !== undefined
    const needed = [
      forgets ? { ...narrow, name: asWritten, hint: hintAsWritten } : { ...narrow, name: everySpelling, hint },
      ...(personAtAddress === undefined || isKnown ? [] : [{ ...ofPerson, name: plain(person), hint: personHint }]),
    ]
    for (const { backoff, hint } of needed) backoff.assertAllowed(hint)
    if (!isAtHome && clientWait !== undefined) throw tooManyFailures(clientWait)
    const held: Held[] = []
    try {
      for (const { limit, backoff, name, hint } of needed) {
        held.push({ limit, permit: await backoff.acquire(name, hint) })
      }
    } catch (error) {
      await releaseAll(held)
      throw error
    }
    return { held, isKnown, isAtHome, forgets }
  }

  async function tryOnce<T>(
    who: Attempt,
    personAtAddress: string | undefined,
    trace: Trace,
    tryPassword: () => Promise<T | undefined>,
  ) {
    const account = [issuer, personAtAddress ?? plain(who.person), who.directory, who.spelling]
    const knownKey = keyOf('known', hashOf(JSON.stringify(account), runtime))
    const { held, isKnown, isAtHome, forgets } = await inQueue(acquiringQueue, personAtAddress ?? who.person, () =>
      permitsFor(who, personAtAddress, knownKey),
    )
    let found: T | undefined
    try {
      found = await tryPassword()
    } catch (error) {
      // The user service failed, so no password was checked.
      await releaseAll(held)
      throw error
    }
    // Attempts in flight when the limit trips all get the same 429, right or wrong.
    const settled = isAtHome ? undefined : clientFailures.settle(who, found === undefined, trace)
    // A success returns its permits immediately, because other logins of the user may wait for them.
    const [wait] = await allOf([settled, found === undefined ? undefined : releaseAll(held)])
    if (wait !== undefined) {
      if (found === undefined) await releaseAll(held)
      throw tooManyFailures(wait)
    }
    if (found === undefined) {
      const report = (limit: string, retryAfter: number): void => {
        if (retryAfter === 0) return
        recorder.record(trace, { type: 'abuse_limited', limit, retryAfter })
      }
      await Promise.all(held.map(async ({ limit, permit }) => report(limit, await permit.fail())))
      return undefined
    }
    await Promise.all([
      ...(forgets ? held.map(({ permit }) => permit.reset()) : []),
      isKnown ? undefined : store.insert(knownKey, {}, runtime.now() + rememberAddress),
    ])
    return found
  }

  return {
    async attempt(who, trace, tryPassword) {
      const personAtAddress =
        who.address === undefined ? undefined : JSON.stringify([who.person, addressGroupOf(who.address)])
      const queue = personAtAddress === undefined ? personQueue : localQueue
      return inQueue(queue, personAtAddress ?? who.person, () => tryOnce(who, personAtAddress, trace, tryPassword))
    },
  }
}
