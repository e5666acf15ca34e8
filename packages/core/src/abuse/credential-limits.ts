import { isOAuthError } from '../errors/oauth-error.ts'
import type { Trace } from '../events/recorder.ts'
import type { AbuseControl } from './abuse-control.ts'
import type { AddressOf } from './address-group.ts'
import { foldedName } from './folded-name.ts'
import { createWindowLimit, type LimitDeps } from './window-limit.ts'

/** Limits the failed authentications of clients and scopes. */
export interface CredentialLimits {
  /**
   * Checks the limit without reading the storage. Call it before the secret is checked, and again before a success is
   * returned: attempts in flight when the limit trips all get the same 429, right or wrong.
   *
   * @throws OAuthError `slow_down` (429).
   */
  assertBelow(presented: string | undefined, trace: Trace): void
  /**
   * Counts the thrown error if it is a failed authentication.
   *
   * @returns the error to throw: the same one, or `slow_down` if the limit is exceeded.
   */
  countFailure(thrown: unknown, presented: string | undefined, trace: Trace): Promise<unknown>
}

const unlimited: CredentialLimits = { assertBelow() {}, countFailure: async (thrown) => thrown }

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

/** @param owner the kind of credentials: a scope and a client can have the same name. */
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
    JSON.stringify([plainName(presented).slice(0, maxNameLength), address])

  return {
    assertBelow(presented, trace) {
      // The usual case: no failure in this process.
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
    },
  }
}
