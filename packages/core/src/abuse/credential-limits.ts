import { createBoundedMap } from '../bounded-map.ts'
import { isOAuthError } from '../errors/oauth-error.ts'
import type { Trace } from '../events/recorder.ts'
import { foldedName } from '../folded-text.ts'
import type { AbuseControl, Window } from './abuse-control.ts'
import { type AddressOf, addressGroupOf } from './address-group.ts'
import { createWindowLimit, type LimitDeps, type WindowLimit } from './window-limit.ts'

/** An attempt to authenticate that may be checked. */
export interface CredentialAttempt {
  /**
   * Checks the limit again before an outcome is returned: attempts in flight when it trips all get the same 429.
   *
   * @param isRight whether it is a success, which makes the address known
   * @throws OAuthError `slow_down` (429).
   */
  confirm(isRight: boolean): void
  /**
   * Counts the thrown error if it is a failed authentication, and the caller presented a guess.
   *
   * @returns the error to throw: the same one, or `slow_down` if the limit is exceeded.
   */
  fail(thrown: unknown, isGuess: boolean): Promise<unknown>
}

/** Limits the failed authentications of clients and scopes. */
export interface CredentialLimits {
  /**
   * Checks the limit without reading the storage. Call it before the secret is checked.
   *
   * @throws OAuthError `slow_down` (429).
   */
  admit(presented: string | undefined, trace: Trace): CredentialAttempt
}

const noLimit: CredentialAttempt = { confirm() {}, fail: async (thrown) => thrown }

/**
 * Wrong secrets beyond the limit, as a multiple of it, after which a known address is no exception. With a low
 * multiple, an attacker behind the same address could shut the client out; without a limit, a short secret could be
 * guessed.
 */
const beyond = 10

/** The pairs of a client and an address that a process knows: about 2 MB. */
const maxKnown = 10_000

/** Longer than any client id or scope name that can authenticate. Longer names count together by this prefix. */
const maxNameLength = 101

function decoded(presented: string): string {
  try {
    return decodeURIComponent(presented.replaceAll('+', ' '))
  } catch {
    // Not form-encoded: the name itself.
    return presented
  }
}

/** Room for a name of 100 characters with three bytes each, all written as `%XX`. The rest is ignored. */
const maxSpellingLength = 900

/**
 * Maps all spellings of a name to one string: a header may form-encode any of its characters (RFC 6749 section 2.3.1),
 * and a client store may ignore case. Decodes repeatedly, because a name can itself look encoded. Names that map to the
 * same string only share a limit.
 */
function plainName(presented: string): string {
  let name = presented.slice(0, maxSpellingLength)
  for (let next = decoded(name); next !== name; next = decoded(name)) name = next
  return foldedName(name)
}

const isFailure = (thrown: unknown): boolean => isOAuthError(thrown) && thrown.code === 'invalid_client'

/** The key of a pair, which no other pair has. On the path of each request: `JSON.stringify` takes four times as long. */
const pairOf = (presented: string, address: string): string => `${address.length} ${address}${presented}`

const nameOf = (presented: string, address: string): string =>
  JSON.stringify([plainName(presented).slice(0, maxNameLength), address])

type Create = (name: string, window: Window) => WindowLimit

/**
 * Limits attempts beyond the usual limit. Counts in this process only, so that a flood writes nothing to the storage.
 */
function createLateAttempts(
  { perAddress, perClientAndAddress }: Exclude<AbuseControl['credentials'], false>,
  create: Create,
) {
  const wider = ({ failures, window }: Window): Window => ({ failures: beyond * failures, window })
  const ofOwner = create('beyond.perClientAndAddress', wider(perClientAndAddress))
  const ofAddress = create('beyond.perAddress', wider(perAddress))

  /** Admits an attempt at an address where the owner has authenticated: only the right secret gets a result. */
  return (presented: string, address: string, refusal: unknown): CredentialAttempt => {
    const name = nameOf(presented, address)
    ofAddress.assertBelow(address)
    ofOwner.assertBelow(name)
    // Before the check, so that no burst has more guesses.
    const announced = [ofAddress.announce(address), ofOwner.announce(name)]
    const withdraw = (): void => {
      for (const failure of announced.splice(0)) failure.withdraw()
    }
    return {
      confirm(isRight) {
        if (isRight) withdraw()
      },
      async fail(thrown, isGuess) {
        if (isGuess && isFailure(thrown)) return refusal
        withdraw()
        return thrown
      },
    }
  }
}

/** @param owner the kind of credentials: a scope and a client can have the same name. */
export function createCredentialLimits(
  limits: AbuseControl['credentials'],
  owner: 'client' | 'scope',
  deps: LimitDeps & { readonly addressOf: AddressOf },
): CredentialLimits {
  if (limits === false) return { admit: () => noLimit }
  const { addressOf } = deps
  const create: Create = (name, window) => createWindowLimit(window, { limit: `${owner}s.${name}`, ...deps })
  const perAddress = create('perAddress', limits.perAddress)
  const perOwner = create('perClientAndAddress', limits.perClientAndAddress)
  const admitLate = createLateAttempts(limits, create)
  /** Where an owner has authenticated, under the exact name. */
  const known = createBoundedMap<true>(maxKnown)

  function assertBelow(presented: string | undefined, address: string): void {
    // The usual case: no failure in this process.
    if (perAddress.isQuiet && perOwner.isQuiet) return
    perAddress.assertBelow(address)
    if (presented !== undefined) perOwner.assertBelow(nameOf(presented, address))
  }

  async function countFailure(thrown: unknown, presented: string | undefined, address: string, trace: Trace) {
    try {
      if (presented !== undefined) await perOwner.count(nameOf(presented, address), trace)
    } catch (refusal) {
      // If the storage failed, the failure counts in this process under both limits. Otherwise an attacker could try
      // secrets of any number of clients.
      if (isOAuthError(refusal) && refusal.code !== 'slow_down') perAddress.announce(address)
      return refusal
    }
    try {
      await perAddress.count(address, trace)
      return thrown
    } catch (refusal) {
      return refusal
    }
  }

  /** Admits an attempt without an address. Its failure has no limit, of which `addressOf` warns. */
  const uncounted = (trace: Trace): CredentialAttempt => ({
    confirm() {},
    async fail(thrown, isGuess) {
      if (isGuess && isFailure(thrown)) addressOf(trace)
      return thrown
    },
  })

  return {
    admit(presented, trace) {
      if (trace.clientAddress === undefined) return uncounted(trace)
      const address = addressGroupOf(trace.clientAddress)
      try {
        assertBelow(presented, address)
      } catch (refusal) {
        if (presented === undefined || known.get(pairOf(presented, address)) === undefined) throw refusal
        return admitLate(presented, address, refusal)
      }
      return {
        confirm(isRight) {
          assertBelow(presented, address)
          if (!isRight || presented === undefined) return
          const pair = pairOf(presented, address)
          if (known.get(pair) === undefined) known.set(pair, true)
        },
        fail: async (thrown, isGuess) =>
          isGuess && isFailure(thrown) ? countFailure(thrown, presented, address, trace) : thrown,
      }
    },
  }
}
