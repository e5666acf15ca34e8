import { createBoundedMap } from '../bounded-map.ts'
import { tooManyFailures } from '../errors/oauth-error.ts'
import { isObject } from '../json.ts'
import { after, allOf } from '../promises.ts'
import { type NewRecord, recordAt } from '../records/envelope.ts'
import { keyOf } from '../records/keys.ts'
import type { MaybePromise } from '../types.ts'
import type { AbuseControl } from './abuse-control.ts'
import { createAttemptLimit, type NumberedAttempt } from './attempt-limit.ts'
import type { ClientFailures } from './client-failures.ts'
import type { Changes } from './settlement.ts'
import type { LimitDeps } from './window-limit.ts'

export interface Attempt {
  /** The user name in its folded form, the same for all spellings. */
  readonly foldedName: string
  /** The user name as presented. If the host distinguishes spellings, each can be a different user. */
  readonly spelling: string
  readonly clientId: string
  /** Further parameters by which the host may select the user (`idp:`, `tenant:`); `undefined` if there are none. */
  readonly directory: string | undefined
  /** `undefined` if the adapter does not report it. Then failures are counted per user only. */
  readonly address: string | undefined
  /** A key of the folded name at the address group; `undefined` if the address is unknown. */
  readonly nameAtAddress: string | undefined
}

/** An attempt that may be checked. */
export interface Admitted {
  /** The counters of the account if it is known at the address; otherwise, those of the name. */
  readonly counters: readonly NumberedAttempt[]
  readonly isKnown: boolean
}

/** Decides which attempts may be checked. */
export interface Admission {
  /** @throws OAuthError `slow_down` (429) if an attempt is not allowed yet. */
  admit(who: Attempt): Promise<Admitted>
  /**
   * Takes an attempt out of the count: the password was right, or the attempt was no guess. Returns the records to
   * write.
   */
  giveBack(admitted: Admitted): Promise<readonly NewRecord[]>
  /** Returns the changes that make the account known at the address, and start its count there again. */
  makeKnown(who: Attempt): Changes
}

interface Look {
  readonly isStillKnown: boolean
  /** Seconds to wait, if the client has reached its limit. */
  readonly clientWait: number | undefined
}

/** Milliseconds that an attempt waits at most for earlier ones of the same user. */
const maxQueueTime = 10_000

/** Milliseconds between two reads while attempts are in progress in other processes; each pause is twice as long. */
const firstPause = 20
const longestPause = 320

/** The maximum number of accounts that a process remembers as unknown at an address. */
const maxStrangers = 10_000

/** Encodes parts of a key so that they cannot collide with others, whatever characters they contain. */
const keyPart = (...parts: readonly (string | undefined)[]): string => JSON.stringify(parts)

const giveBack = async (counters: readonly NumberedAttempt[]): Promise<readonly NewRecord[]> =>
  // A number beyond the limit stays drawn: giving it back could admit another one that waits.
  (await Promise.all(counters.filter((counter) => counter.isAdmitted()).map((counter) => counter.giveBack()))).flat()

/** The names under which an attempt counts. */
interface Names {
  /** The key of the account in the memory of this process. */
  readonly account: string
  /** The key of the record that makes the account known at the address. */
  readonly knownKey: string
  planOf(isKnown: boolean): Admitted
  makeKnown(expiresAt: number): Changes
}

/** Creates the function that decides under which names an attempt counts. */
function createNaming({ perUserAndAddress, perUser }: AbuseControl['passwords'], deps: LimitDeps) {
  const atAddress = createAttemptLimit(perUserAndAddress, { ...deps, limit: 'passwords.perUserAndAddress' })
  const everywhere = createAttemptLimit(perUser, { ...deps, limit: 'passwords.perUser' })

  const nameCounters = ({ foldedName, nameAtAddress }: Attempt): readonly NumberedAttempt[] => [
    ...(nameAtAddress === undefined ? [] : [atAddress.open(keyPart(nameAtAddress))]),
    everywhere.open(keyPart(foldedName)),
  ]

  return (who: Attempt): Names => {
    const { foldedName, nameAtAddress, spelling, directory } = who
    // Two spellings of a name, or one name in two directories (`tenant:`, `idp:`), can be two users, one of them the
    // attacker. Therefore only an account that has logged in before from this address, in exactly this way, is counted
    // by itself, and only its own logins forget its failures. All others are counted under the folded name.
    const account = keyPart(deps.issuer, nameAtAddress ?? keyPart(foldedName), directory, spelling)
    const knownKey = keyOf('known', deps.runtime.sha256Hex(account))
    const accountCounter = (): NumberedAttempt => (nameAtAddress === undefined ? everywhere : atAddress).open(account)
    return {
      account,
      knownKey,
      planOf: (isKnown) => ({ isKnown, counters: isKnown ? [accountCounter()] : nameCounters(who) }),
      makeKnown: (expiresAt) => ({
        put: [{ key: knownKey, value: {}, expiresAt }],
        remove: accountCounter().forget(),
      }),
    }
  }
}

/** Creates the functions that refuse attempts. */
function createRefusals({ store }: Pick<LimitDeps, 'store'>) {
  /** Refuses an attempt. It must not count for the name if it is refused for the address, or for the client. */
  async function refuse(counters: readonly NumberedAttempt[], wait: number): Promise<never> {
    await store.commit({ put: await giveBack(counters) })
    throw tooManyFailures(wait)
  }

  /**
   * Refuses an attempt that has waited in vain: processes have ended in the middle of earlier attempts. Settles those
   * as failures, so that the next attempt does not wait for them.
   */
  async function giveUp(counters: readonly NumberedAttempt[]): Promise<never> {
    const late = counters.filter((counter) => !counter.isAdmitted())
    await store.commit({ put: late.flatMap((counter) => counter.fail()) })
    return refuse(counters, 1)
  }

  return { refuse, giveUp }
}

export function createAdmission(
  passwords: AbuseControl['passwords'],
  deps: LimitDeps & { readonly clientFailures: ClientFailures },
): Admission {
  const { store, runtime, clientFailures } = deps
  const namesOf = createNaming(passwords, deps)
  const { refuse, giveUp } = createRefusals(deps)
  /** The accounts that were not known at an address. */
  const strangers = createBoundedMap<true>(maxStrangers)

  /** Reads in one trip whether the account is known and what has failed, and draws numbers. */
  const look = ({ counters, isKnown }: Admitted, knownKey: string, who: Attempt, draws: boolean): MaybePromise<Look> =>
    after(
      allOf([
        store.getAll([recordAt(knownKey, isObject), ...counters.map((counter) => counter.progress)]),
        // Failures elsewhere do not count where the user has logged in before: an attacker cannot lock the user out.
        isKnown ? undefined : clientFailures.waitOf(who),
        draws ? allOf(counters.map((counter) => counter.draw())) : undefined,
      ]),
      ([[known, ...progress], clientWait]): Look => {
        for (const [index, counter] of counters.entries()) counter.see(progress[index] ?? { passed: 0, full: 0 })
        return { isStillKnown: known !== undefined, clientWait }
      },
    )

  /** Returns the seconds to wait if the attempt must be refused. */
  function waitOf({ counters, isKnown }: Admitted, clientWait: number | undefined): number | undefined {
    const isBlocked = (counter: NumberedAttempt) => counter.isBlocked() && !(isKnown && counter.isAdmitted())
    return clientWait ?? counters.find(isBlocked)?.remaining()
  }

  /** @throws OAuthError `slow_down` (429) if an attempt is not allowed yet. */
  async function admit(who: Attempt): Promise<Admitted> {
    const { account, knownKey, planOf } = namesOf(who)
    let plan = planOf(strangers.get(account) === undefined)
    let isDrawn = false
    let isConfirmed = false
    for (let pause = firstPause, waited = 0; ; ) {
      const { counters, isKnown } = plan
      // The numbers of a name are never reset, because `passed` grows with them. Those of an account start again
      // after each login. No number is drawn for a name that is refused anyway: a flood of invented names would leave
      // a record of each.
      const mayDraw = isConfirmed || clientFailures.knownWait(who) === undefined
      const draws: boolean = mayDraw && (isKnown || (!isDrawn && !counters.some((counter) => counter.isBlocked())))
      const { isStillKnown, clientWait } = await look(plan, knownKey, who, draws)
      if (isStillKnown !== isKnown) {
        if (isStillKnown) {
          strangers.delete(account)
          // From here, the attempt counts under the account, and no longer under the name.
          await store.commit({ put: await giveBack(counters) })
        } else strangers.set(account, true)
        plan = planOf(isStillKnown)
        isDrawn = false
        continue
      }
      const wait = waitOf(plan, clientWait)
      if (wait !== undefined) return refuse(counters, wait)
      isConfirmed = isKnown
      // Otherwise, other attempts are in progress.
      if (counters.every((counter) => counter.isAdmitted())) return plan
      isDrawn ||= draws
      if (!isDrawn) continue
      if (waited >= maxQueueTime) return giveUp(counters)
      await new Promise((resolve) => setTimeout(resolve, pause))
      waited += pause
      pause = Math.min(2 * pause, longestPause)
    }
  }

  return {
    admit,
    giveBack: ({ counters }) => giveBack(counters),
    makeKnown(who) {
      const { account, makeKnown } = namesOf(who)
      strangers.delete(account)
      return makeKnown(runtime.now() + passwords.rememberAddress)
    },
  }
}
