import { assertMembers, safeUrl, seconds, text, texts } from './check.ts'
import type { ClaimRules } from './claims.ts'
import { createJsonFetch, type Fetch, type JsonFetch } from './json-fetch.ts'
import type { JwtOptions } from './jwt.ts'
import { createMetadata, type FindInMetadata } from './metadata.ts'
import type { Reason } from './refusal.ts'

/** A refusal, for logs. */
export interface Refusal {
  readonly reason: Reason
  readonly status: number
  /** The error of a fetch or of a function of the host that caused the refusal. */
  readonly cause?: unknown
}

/** The options of {@link createResourceServer}. */
export interface ResourceServerOptions {
  /** The issuer of the access tokens: their `iss`, compared character by character. */
  readonly issuer: string
  /** The names of this API in `aud`. A token needs one of them. */
  readonly audience: string | readonly string[]
  /** How JWTs are validated. Default: with the keys that the issuer publishes. */
  readonly jwt?: JwtOptions | undefined
  /** The claim that contains the scopes. Default: `scope`. */
  readonly scopeClaim?: string | undefined
  /** The `realm` of challenges. Default: none. */
  readonly realm?: string | undefined
  /** Seconds by which the clock of the issuer may differ, for `exp` and `nbf`. Default: 10. */
  readonly clockTolerance?: number | undefined
  /** Seconds for each request to the issuer. Default: 5. */
  readonly timeout?: number | undefined
  /** Replaces the global `fetch`, for example to use a proxy. Must not follow redirects. */
  readonly fetch?: Fetch | undefined
  /** Receives every refusal. Its errors are ignored. */
  readonly onRefusal?: ((refusal: Refusal) => void) | undefined
  /** Returns the time in epoch seconds. Default: the clock of the system. */
  readonly now?: (() => number) | undefined
}

const optionNames = [
  'issuer',
  'audience',
  'jwt',
  'scopeClaim',
  'realm',
  'clockTolerance',
  'timeout',
  'fetch',
  'onRefusal',
  'now',
]

/** What the parts of a resource server share. */
export interface Context {
  readonly rules: ClaimRules
  readonly fetchJson: JsonFetch
  /** Returns the function that finds endpoints of the issuer. Throws a TypeError if the issuer has no safe URL. */
  readonly metadata: () => FindInMetadata
  readonly scopeClaim: string
  readonly realm: string | undefined
}

/** @throws TypeError with one sentence for a mistake in the options */
export function contextOf(options: ResourceServerOptions): Context {
  assertMembers(options, optionNames, 'The options')
  const issuer = text(options.issuer, 'issuer')
  const now = options.now ?? (() => Date.now() / 1000)
  const timeout = seconds(options.timeout, 5, [0.05, 60], 'timeout')
  const fetchJson = createJsonFetch(options.fetch ?? ((url, init) => fetch(url, init)), timeout)
  let metadata: FindInMetadata | undefined
  const { realm, scopeClaim = 'scope' } = options
  if (realm !== undefined && !/^[ !#-[\]-~]+$/u.test(realm)) {
    throw new TypeError('realm must be printable ASCII without quotation marks and backslashes')
  }
  return {
    rules: {
      issuer,
      audience: texts(options.audience, 'audience'),
      clockTolerance: seconds(options.clockTolerance, 10, [0, 300], 'clockTolerance'),
      now,
    },
    fetchJson,
    metadata: () => {
      metadata ??= createMetadata(safeUrl(issuer, 'issuer'), fetchJson, now)
      return metadata
    },
    scopeClaim: text(scopeClaim, 'scopeClaim'),
    realm,
  }
}
