import type { CredentialRefusal } from '@grantry/core'
import { signatureAlgorithms } from '../shared/verify-jwt.ts'
import { maxAssertionLifetime, type Settings } from './assertion-settings.ts'

const asymmetric: readonly string[] = signatureAlgorithms

const wide = `"issuer or endpoint"`

const clocks = ({ clockTolerance }: Settings): string =>
  `the clocks of the client and of this provider differ; clockTolerance of client-assertion is ${clockTolerance} seconds, and can be up to 60`

/** Texts that name the setting which would allow an assertion that is refused for its claims. */
export const claimHints = {
  /** @param isAllowed whether the wider audience would allow it */
  audience: (isAllowed: boolean): string =>
    isAllowed
      ? `set audience of client-assertion, or tokenEndpointAuthAudience of the client, to ${wide}`
      : 'aud can be the issuer and, unless audience is "issuer", the URL of the token endpoint or of the endpoint that was called; if a proxy gives the token endpoint another URL, set tokenEndpoint of client-assertion',
  /** @param ahead seconds */
  lifetime: (ahead: number): string =>
    ahead <= maxAssertionLifetime
      ? `set maxLifetime of client-assertion to ${Math.ceil(ahead)}`
      : `exp can be at most ${maxAssertionLifetime} seconds ahead, with maxLifetime of client-assertion`,
}

const hints: Readonly<Record<string, ((settings: Settings, alg: string) => string | undefined) | undefined>> = {
  expired: clocks,
  iat_invalid: clocks,
  nbf_invalid: clocks,
  // Repeats known algorithms only: other texts come from a stranger.
  algorithm_not_allowed: ({ algorithms }, alg) =>
    algorithms.some((algorithm) => algorithm === alg)
      ? `tokenEndpointAuthSigningAlg of the client is not ${alg}`
      : asymmetric.includes(alg)
        ? `add ${alg} to algorithms of client-assertion`
        : undefined,
  keys_address_refused: () => 'set jwksUri.allowPrivateAddresses of client-assertion for hosts in your network',
  key_ambiguous: () => 'more than two keys of the client fit; the client must send the kid of its key',
}

/** Adds to a reason which setting would allow the assertion, if one would. */
export function refusalFor(reason: string, alg: string, settings: Settings): CredentialRefusal {
  const detail = Object.hasOwn(hints, reason) ? hints[reason]?.(settings, alg) : undefined
  return detail === undefined ? { reason } : { reason, detail }
}
