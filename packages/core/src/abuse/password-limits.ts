import * as v from 'valibot'
import { OAuthError } from '../errors/oauth-error.ts'
import type { Trace } from '../events/trace.ts'
import type { MaybePromise } from '../json.ts'
import { allOf } from '../promises.ts'
import { hashOf, keyOf } from '../records/keys.ts'
import { addressGroupOf } from './address-group.ts'
import { createClientFailures } from './client-failures.ts'
import type { LimitDeps } from './limit-deps.ts'
import type { AbuseControl } from './options.ts'
import { createPermits, type Permit } from './permits.ts'
import { tooMany } from './too-many.ts'
import { createTurns, type Turns } from './turns.ts'

/** Whose password is tried, and where. */
export interface Attempt {
  /** One person, however the name was written. */
  readonly person: string
  /** The name exactly as it was written. Where the host tells spellings apart, each may be the name of another user. */
  readonly spelling: string
  readonly clientId: string
  /** What of the request the host may look for the person by, beside the name; `undefined` where there is nothing. */
  readonly directory: string | undefined
  /** `undefined` where the host does not know it: then the user counts as a whole. */
  readonly address: string | undefined
}

/** Stands before every look at a password. */
export interface PasswordLimits {
  /**
   * Lets it be tried, where it is due. What `tryPassword` answers is a success unless it is `undefined`.
   *
   * @throws OAuthError `slow_down`, 429, where it is too early; then nothing is told, and nothing is counted.
   */
  attempt<T>(who: Attempt, trace: Trace, tryPassword: () => Promise<T | undefined>): Promise<T | undefined>
}

/** A name that no other text can be: a user may be called whatever he likes. */
const plain = (name: string): string => JSON.stringify([name])

/** A permit, and the limit that it is of. */
interface Held {
  readonly limit: string
  readonly permit: Permit
}

const giveBackAll = (held: readonly Held[]): MaybePromise<unknown> => allOf(held.map(({ permit }) => permit.giveBack()))

/** Milliseconds that attempts of the same user from the same address may hold up a later one. */
const longestAttempt = 10_000

const knownSchema = v.object({})

/** @throws OAuthError `temporarily_unavailable` when others of the name have taken too long. */
async function inTurn<T>(turns: Turns, name: string, act: () => Promise<T>): Promise<T> {
  if (!(await turns.begin(name))) {
    throw new OAuthError('temporarily_unavailable', 'The service is busy, try again', {
      reason: 'earlier_attempt_pending',
      retryAfter: 1,
    })
  }
  try {
    return await act()
  } finally {
    turns.end(name)
  }
}

export function createPasswordLimits(
  { perUserAndAddress, perUser, perClient, forgetAfter, rememberAddress }: AbuseControl['passwords'],
  deps: LimitDeps,
): PasswordLimits {
  const { issuer, store, runtime, recorder } = deps
  const names = {
    own: 'passwords.perUserAndAddress',
    person: 'passwords.perUser',
  } as const
  const ownPermits = createPermits(perUserAndAddress, { limit: names.own, forgetAfter, issuer, store, runtime })
  const personPermits = createPermits(perUser, { limit: names.person, forgetAfter, issuer, store, runtime })
  const clientFailures = createClientFailures(perClient, deps)
  // Honest logins of one user that come at once wait for each other instead of being refused for want of a permit.
  const ownTurns = createTurns(perUserAndAddress.attempts, longestAttempt)
  const personTurns = createTurns(perUser.attempts, longestAttempt)
  // Who looks for a slot that is left must not be overtaken: as many as may be under way have one each.
  const takingTurns = createTurns(1, longestAttempt)

  /**
   * The permits that this attempt needs: all of them, or none.
   *
   * Two spellings of a name, or one name in two directories (`tenant:`, `idp:`), may be two users, one of whom is the attacker. So an attempt counts
   * under the name in every spelling, which no login forgets. Only where this very spelling has logged in before, in no named directory, does it
   * count for itself, and a login forgets its failures.
   */
  async function permitsFor(who: Attempt, own: string | undefined, knownKey: string) {
    const { person, spelling, directory } = who
    const ofPerson = { limit: names.person, permits: personPermits }
    const near = own === undefined ? ofPerson : { limit: names.own, permits: ownPermits }
    const everySpelling = plain(own ?? person)
    const asWritten = directory === undefined ? JSON.stringify(['as written', own ?? person, spelling]) : undefined
    const [known, clientWait, look, lookAsWritten, lookFar] = await allOf([
      store.get(knownKey, knownSchema),
      clientFailures.waitOf(who),
      near.permits.look(everySpelling),
      asWritten === undefined ? undefined : near.permits.look(asWritten),
      own === undefined ? undefined : personPermits.look(plain(person)),
    ])
    const isKnown = known !== undefined
    // Where the user has logged in before, strangers elsewhere do not matter: nobody is locked out by them.
    const isAtHome = isKnown && own !== undefined
    const forgets = isKnown && asWritten !== undefined
    const needed = [
      forgets ? { ...near, name: asWritten, look: lookAsWritten } : { ...near, name: everySpelling, look },
      ...(own === undefined || isKnown ? [] : [{ ...ofPerson, name: plain(person), look: lookFar }]),
    ]
    for (const { permits, look: found } of needed) permits.assertDue(found)
    if (!isAtHome && clientWait !== undefined) throw tooMany(clientWait)
    const held: Held[] = []
    try {
      for (const { limit, permits, name, look: found } of needed) {
        held.push({ limit, permit: await permits.take(name, found) })
      }
    } catch (error) {
      await giveBackAll(held)
      throw error
    }
    return { held, isKnown, isAtHome, forgets }
  }

  async function tryOnce<T>(
    who: Attempt,
    own: string | undefined,
    trace: Trace,
    tryPassword: () => Promise<T | undefined>,
  ) {
    const place = [issuer, own ?? plain(who.person), who.directory, who.spelling]
    const knownKey = keyOf('known', hashOf(JSON.stringify(place), runtime))
    const { held, isKnown, isAtHome, forgets } = await inTurn(takingTurns, own ?? who.person, () =>
      permitsFor(who, own, knownKey),
    )
    let found: T | undefined
    try {
      found = await tryPassword()
    } catch (error) {
      // A user service that is out of order has judged no password.
      await giveBackAll(held)
      throw error
    }
    // What was under way together with the last failure that counts must not tell more than what comes after it, be it right or wrong.
    const settled = isAtHome ? undefined : clientFailures.settle(who, found === undefined, trace)
    // A success gives its permits back at once: other logins of the user may wait for them.
    const [late] = await allOf([settled, found === undefined ? undefined : giveBackAll(held)])
    if (late !== undefined) {
      if (found === undefined) await giveBackAll(held)
      throw tooMany(late)
    }
    if (found === undefined) {
      const tell = (limit: string, retryAfter: number): void => {
        if (retryAfter === 0) return
        recorder.record(trace, { type: 'abuse_limited', limit, retryAfter })
      }
      await Promise.all(held.map(async ({ limit, permit }) => tell(limit, await permit.fail())))
      return undefined
    }
    await Promise.all([
      ...(forgets ? held.map(({ permit }) => permit.forget()) : []),
      isKnown ? undefined : store.insert(knownKey, {}, runtime.now() + rememberAddress),
    ])
    return found
  }

  return {
    async attempt(who, trace, tryPassword) {
      const own = who.address === undefined ? undefined : JSON.stringify([who.person, addressGroupOf(who.address)])
      const turns = own === undefined ? personTurns : ownTurns
      return inTurn(turns, own ?? who.person, () => tryOnce(who, own, trace, tryPassword))
    },
  }
}
