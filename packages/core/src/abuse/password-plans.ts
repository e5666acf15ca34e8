import { createBoundedMap } from '../bounded-map.ts'
import { tooManyFailures } from '../errors/oauth-error.ts'
import { after, allOf } from '../promises.ts'
import type { NewRecord } from '../records/envelope.ts'
import { isObject } from '../records/json.ts'
import { hashOf, keyOf } from '../records/keys.ts'
import type { MaybePromise } from '../types.ts'
import type { AttemptHint, BackoffLimit, Permit } from './backoff-limit.ts'
import type { ClientFailures } from './client-failures.ts'
import type { LimitDeps } from './window-limit.ts'

/** A password attempt. */
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

/** How an attempt is counted. */
export interface Plan {
  readonly permits: readonly Permit[]
  /**
   * Where the attempt comes from. From a new address, it also counts for the user over all addresses. From a known one,
   * where the user has logged in before, failures from elsewhere do not count, neither of the user nor of the client: an
   * attacker cannot lock the user out.
   */
  readonly origin: 'known address' | 'new address' | 'no address'
  /** Only of a remembered plan: reads whether `read` would return the same. No password must be checked unless it does. */
  isCurrent?(): MaybePromise<boolean>
  /** Returns what a success writes. Call `remember` when it is stored, and the permits are returned. */
  succeed(): { readonly records: readonly NewRecord[]; remember(): void }
  /** Call it after a failure. */
  forget(): void
}

export interface PasswordPlans {
  /**
   * Reads which permits an attempt needs.
   *
   * @throws OAuthError `slow_down` (429) if an attempt is not allowed yet.
   */
  read(who: Attempt): Promise<Plan>
  /** Returns the plan of a user who has logged in through this process in the same way, and has not failed since. */
  remembered(who: Attempt): Plan | undefined
}

/** The name under which a limit counts an attempt. */
interface Counter {
  readonly limit: BackoffLimit
  readonly name: string
  readonly hint: AttemptHint
}

/** What a plan is created from. */
interface Basis {
  readonly account: string
  readonly knownKey: string
  /** Whether the user has logged in before, in the same spelling and directory, and from the same address. */
  readonly isKnown: boolean
  readonly counters: readonly [Counter, ...Counter[]]
  /** Of the exact spelling, under which the next attempt is counted if this one succeeds. */
  readonly hintAsWritten: AttemptHint
}

/** Encodes parts of a key so that they cannot collide with others, whatever characters they contain. */
const keyPart = (...parts: readonly (string | undefined)[]): string => JSON.stringify(parts)

/** The maximum number of logins that a process remembers: about 3 MB. */
const maxLogins = 10_000

export function createPasswordPlans({
  perUserAndAddress,
  perUser,
  clientFailures,
  rememberAddress,
  issuer,
  store,
  runtime,
}: Omit<LimitDeps, 'recorder'> & {
  readonly perUserAndAddress: BackoffLimit
  /** Limits a user over all addresses. */
  readonly perUser: BackoffLimit
  readonly clientFailures: ClientFailures
  /** Seconds. */
  readonly rememberAddress: number
}): PasswordPlans {
  /** The hints after the last login, if they count no failure. */
  const logins = createBoundedMap<{ readonly hint: AttemptHint }>(maxLogins)

  const accountOf = ({ foldedName, nameAtAddress, spelling, directory }: Attempt): string =>
    keyPart(issuer, nameAtAddress ?? keyPart(foldedName), directory, spelling)
  const knownKeyOf = (account: string): string => keyOf('known', hashOf(account, runtime))
  // Two spellings of a name, or one name in two directories (`tenant:`, `idp:`), can be two users, one of them the
  // attacker. Therefore an attempt is counted under the folded name, whose failures no login forgets. Only if this exact
  // spelling has logged in before, without a directory, is it counted as written, and a login forgets its failures.
  const asWrittenOf = ({ foldedName, nameAtAddress, spelling, directory }: Attempt): string | undefined =>
    directory === undefined ? keyPart('as written', nameAtAddress ?? foldedName, spelling) : undefined
  const originOf = ({ nameAtAddress }: Attempt, isKnown: boolean): Plan['origin'] =>
    nameAtAddress === undefined ? 'no address' : isKnown ? 'known address' : 'new address'

  function planOf(who: Attempt, { account, knownKey, isKnown, counters, hintAsWritten }: Basis): Plan {
    const [counter, ...others] = counters
    const attempt = runtime.base64url(runtime.randomBytes(12))
    const permitOf = ({ limit, name, hint }: Counter): Permit => limit.permit(name, hint, attempt)
    const permit = permitOf(counter)

    function afterSuccess(): ReturnType<Permit['reset']> {
      if (isKnown && who.directory === undefined) return permit.reset()
      const known = { key: knownKey, value: {}, expiresAt: runtime.now() + rememberAddress }
      return { records: isKnown ? [] : [known], hint: hintAsWritten }
    }

    return {
      permits: [permit, ...others.map(permitOf)],
      origin: originOf(who, isKnown),
      succeed() {
        const { records, hint } = afterSuccess()
        const isRemembered = who.nameAtAddress !== undefined && who.directory === undefined && (hint?.level ?? 0) === 0
        return {
          records,
          remember() {
            if (isRemembered) logins.set(account, { hint })
          },
        }
      },
      forget: () => logins.delete(account),
    }
  }

  return {
    async read(who) {
      const { foldedName, nameAtAddress } = who
      const account = accountOf(who)
      const knownKey = knownKeyOf(account)
      const limit = nameAtAddress === undefined ? perUser : perUserAndAddress
      const everySpelling = keyPart(nameAtAddress ?? foldedName)
      const asWritten = asWrittenOf(who)
      const [known, clientWait, hint, hintAsWritten, hintOfUser] = await allOf([
        store.get(knownKey, isObject),
        clientFailures.waitOf(who),
        limit.hintOf(everySpelling),
        asWritten === undefined ? undefined : limit.hintOf(asWritten),
        nameAtAddress === undefined ? undefined : perUser.hintOf(keyPart(foldedName)),
      ])
      const isKnown = known !== undefined
      const origin = originOf(who, isKnown)
      const counters: [Counter, ...Counter[]] = [
        isKnown && asWritten !== undefined
          ? { limit, name: asWritten, hint: hintAsWritten }
          : { limit, name: everySpelling, hint },
      ]
      if (origin === 'new address') counters.push({ limit: perUser, name: keyPart(foldedName), hint: hintOfUser })
      for (const counter of counters) counter.limit.assertAllowed(counter.hint)
      if (origin !== 'known address' && clientWait !== undefined) throw tooManyFailures(clientWait)
      return planOf(who, { account, knownKey, isKnown, counters, hintAsWritten })
    },

    remembered(who) {
      const name = asWrittenOf(who)
      if (who.nameAtAddress === undefined || name === undefined) return undefined
      const account = accountOf(who)
      const login = logins.get(account)
      if (login === undefined) return undefined
      const { hint } = login
      const knownKey = knownKeyOf(account)
      return {
        ...planOf(who, {
          account,
          knownKey,
          isKnown: true,
          counters: [{ limit: perUserAndAddress, name, hint }],
          hintAsWritten: hint,
        }),
        isCurrent: () =>
          after(allOf([store.get(knownKey, isObject), perUserAndAddress.hintOf(name)]), ([known, stored]) => {
            // A hint of another series, or with failures, permits other slots.
            const isSame = stored?.series === hint?.series && (stored?.level ?? 0) === 0
            if (known !== undefined && isSame) return true
            logins.delete(account)
            return false
          }),
      }
    },
  }
}
