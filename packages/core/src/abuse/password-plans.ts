import { createBoundedMap } from '../bounded-map.ts'
import { tooManyFailures } from '../errors/oauth-error.ts'
import { after, allOf } from '../promises.ts'
import type { NewRecord } from '../records/envelope.ts'
import { hashOf, keyOf } from '../records/keys.ts'
import { isObject } from '../records/schemas.ts'
import type { MaybePromise } from '../types.ts'
import type { AttemptHint, BackoffLimit, Permit } from './backoff-limit.ts'
import type { ClientFailures } from './client-failures.ts'
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
  /** A key of the folded name at the address group; `undefined` if the address is unknown. */
  readonly personAtAddress: string | undefined
}

/** How an attempt is counted. */
export interface Plan {
  readonly permits: readonly Permit[]
  /** Whether the attempt counts for the user over all addresses. */
  readonly countsPerson: boolean
  readonly isAtHome: boolean
  /** What a success writes. */
  afterSuccess(): readonly NewRecord[]
  /** Call it when what a success writes is stored, and the permits are returned. */
  remember(): void
  /** Call it after a failure. */
  forget(): void
}

/** A plan from what this process remembers. */
export interface Guess extends Plan {
  /** Reads whether `planFor` would return the same plan. No password must be checked unless it does. */
  isRight(): MaybePromise<boolean>
}

export interface PasswordPlans {
  /**
   * Returns the permits that an attempt needs.
   *
   * @throws OAuthError `slow_down` (429) if an attempt is not allowed yet.
   */
  planFor(who: Attempt): Promise<Plan>
  /** Returns the plan of a user who has logged in through this process in the same way, and has not failed since. */
  guess(who: Attempt): Guess | undefined
}

/** Encodes a name so that it cannot collide with other keys, whatever characters it contains. */
const plain = (name: string): string => JSON.stringify([name])

/** The maximum number of logins that a process remembers: about 3 MB. */
const maxLogins = 10_000

export function createPasswordPlans({
  localLimit,
  personLimit,
  clientFailures,
  rememberAddress,
  issuer,
  store,
  runtime,
}: Omit<LimitDeps, 'recorder'> & {
  /** Limits a user at an address. */
  readonly localLimit: BackoffLimit
  /** Limits a user over all addresses. */
  readonly personLimit: BackoffLimit
  readonly clientFailures: ClientFailures
  /** Seconds. */
  readonly rememberAddress: number
}): PasswordPlans {
  /** The hints after the last login, if they count no failure. */
  const logins = createBoundedMap<{ readonly hint: AttemptHint }>(maxLogins)

  const accountOf = ({ person, personAtAddress, spelling, directory }: Attempt): string =>
    JSON.stringify([issuer, personAtAddress ?? plain(person), directory, spelling])
  const knownKeyOf = (account: string): string => keyOf('known', hashOf(account, runtime))
  const asWrittenOf = (person: string, spelling: string): string => JSON.stringify(['as written', person, spelling])

  function planOf(
    account: string,
    knownKey: string,
    state: {
      readonly needed: readonly {
        readonly backoff: BackoffLimit
        readonly name: string
        readonly hint: AttemptHint
      }[]
      readonly isKnown: boolean
      readonly isAtHome: boolean
      readonly countsPerson: boolean
      /** Whether a success forgets all failures that the first permit counts. */
      readonly forgets: boolean
      /** The hint of the next attempt in the same way, if this one succeeds; `undefined` if that is not remembered. */
      readonly next: { readonly hint: AttemptHint } | undefined
    },
  ): Plan {
    const { needed, isKnown, isAtHome, countsPerson, forgets } = state
    let { next } = state
    const attempt = runtime.base64url(runtime.randomBytes(12))
    const permits = needed.map(({ backoff, name, hint }) => backoff.permit(name, hint, attempt))
    const [first] = permits
    return {
      permits,
      countsPerson,
      isAtHome,
      afterSuccess() {
        if (!isKnown) return [{ key: knownKey, value: {}, expiresAt: runtime.now() + rememberAddress }]
        if (!forgets || first === undefined) return []
        const { records, hint } = first.reset()
        if (next !== undefined) next = { hint }
        return records
      },
      remember() {
        if (next !== undefined && (next.hint?.level ?? 0) === 0) logins.set(account, next)
      },
      forget: () => logins.delete(account),
    }
  }

  return {
    // Two spellings of a name, or one name in two directories (`tenant:`, `idp:`), can be two users, one of them the
    // attacker. Therefore an attempt is counted under the folded name, whose failures no login forgets. Only if this
    // exact spelling has logged in before, without a directory, is it counted separately, and a login forgets its
    // failures.
    async planFor(who) {
      const { person, personAtAddress, spelling, directory } = who
      const account = accountOf(who)
      const knownKey = knownKeyOf(account)
      const narrow = personAtAddress === undefined ? personLimit : localLimit
      const everySpelling = plain(personAtAddress ?? person)
      const asWritten = directory === undefined ? asWrittenOf(personAtAddress ?? person, spelling) : undefined
      const [known, clientWait, hint, hintAsWritten, personHint] = await allOf([
        store.get(knownKey, isObject),
        clientFailures.waitOf(who),
        narrow.hintOf(everySpelling),
        asWritten === undefined ? undefined : narrow.hintOf(asWritten),
        personAtAddress === undefined ? undefined : personLimit.hintOf(plain(person)),
      ])
      const isKnown = known !== undefined
      // At an address where the user has logged in before, failures from elsewhere do not count: an attacker cannot
      // lock the user out.
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
      const next = personAtAddress === undefined || asWritten === undefined ? undefined : { hint: hintAsWritten }
      return planOf(account, knownKey, { needed, isKnown, isAtHome, countsPerson, forgets, next })
    },

    guess(who) {
      const { personAtAddress, spelling } = who
      if (personAtAddress === undefined) return undefined
      const account = accountOf(who)
      const login = logins.get(account)
      if (login === undefined) return undefined
      const knownKey = knownKeyOf(account)
      const name = asWrittenOf(personAtAddress, spelling)
      const plan = planOf(account, knownKey, {
        needed: [{ backoff: localLimit, name, hint: login.hint }],
        isKnown: true,
        isAtHome: true,
        countsPerson: false,
        forgets: true,
        next: login,
      })
      return {
        ...plan,
        isRight: () =>
          after(allOf([store.get(knownKey, isObject), localLimit.hintOf(name)]), ([known, hint]) => {
            // A hint of another series, or with failures, permits other slots.
            const isSame = hint?.series === login.hint?.series && (hint?.level ?? 0) === 0
            if (known !== undefined && isSame) return true
            logins.delete(account)
            return false
          }),
      }
    },
  }
}
