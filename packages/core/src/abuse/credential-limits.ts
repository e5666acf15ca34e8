import { isOAuthError } from '../errors/oauth-error.ts'
import type { Trace } from '../events/trace.ts'
import type { MaybePromise } from '../json.ts'
import { foldedName } from './folded-name.ts'
import type { LimitDeps } from './limit-deps.ts'
import type { AbuseControl } from './options.ts'
import type { AddressOf } from './unknown-address.ts'
import { createWindowLimit } from './window-limit.ts'

/** Stands before every look at the secret of a client or scope. */
export interface CredentialLimits {
  /**
   * Asks no store. Before a secret is looked at, and again before it is told to be right: what was under way together with the last failure that
   * counts must not tell more than what comes after it.
   *
   * @throws OAuthError `slow_down`, 429.
   */
  assertBelow(presented: string | undefined, trace: Trace): void
  /** Counts what was thrown, where it is a failed authentication. @returns what to tell the caller: the same, or where it is one too many, to wait. */
  countFailure(thrown: unknown, presented: string | undefined, trace: Trace): MaybePromise<unknown>
}

const unlimited: CredentialLimits = { assertBelow() {}, countFailure: (thrown) => thrown }

/** No name of a client or scope is longer; what is, is nobody's, and counts as one. */
const longestName = 101

function decoded(presented: string): string {
  try {
    return decodeURIComponent(presented.replaceAll('+', ' '))
  } catch {
    // No encoding at all: then it is the name itself.
    return presented
  }
}

/** A name of 100 characters, each of three bytes, each of which is written `%XX`. What comes later is not looked at. */
const longestSpelling = 900

/**
 * One name however it is written: a header may form-encode any character of it, or none (RFC 6749 section 2.3.1), and a client store may ignore case.
 * Decoded until nothing is left to decode, because a name can itself read like an encoded one. Names with one form share a limit, and nothing else.
 */
function plainName(presented: string): string {
  let name = presented.slice(0, longestSpelling)
  for (let next = decoded(name); next !== name; next = decoded(name)) name = next
  return foldedName(name)
}

/** @param owner whose credentials they are: a scope may be called like a client. */
export function createCredentialLimits(
  limits: AbuseControl['credentials'],
  owner: 'client' | 'scope',
  deps: LimitDeps & { readonly addressOf: AddressOf },
): CredentialLimits {
  if (limits === false) return unlimited
  const { addressOf } = deps
  const perAddress = createWindowLimit(limits.perAddress, { limit: `${owner}s.perAddress`, ...deps })
  const perOwner = createWindowLimit(limits.perClientAndAddress, { limit: `${owner}s.perClientAndAddress`, ...deps })
  const nameOf = (presented: string, address: string): string =>
    JSON.stringify([plainName(presented).slice(0, longestName), address])

  return {
    assertBelow(presented, trace) {
      // Nobody has failed here: most processes, most of the time.
      if (perAddress.isQuiet && perOwner.isQuiet) return
      const address = addressOf(trace)
      if (address === undefined) return
      perAddress.assertBelow(address)
      if (presented !== undefined) perOwner.assertBelow(nameOf(presented, address))
    },
    async countFailure(thrown, presented, trace) {
      if (!isOAuthError(thrown) || thrown.code !== 'invalid_client') return thrown
      const address = addressOf(trace)
      if (address === undefined) return thrown
      try {
        if (presented !== undefined) await perOwner.count(nameOf(presented, address), trace)
        await perAddress.count(address, trace)
        return thrown
      } catch (refusal) {
        return refusal
      }
    },
  }
}
