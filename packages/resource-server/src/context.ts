import { safeUrl, seconds, text, texts } from './check.ts'
import type { ClaimRules } from './claims.ts'
import { createJsonFetch, type Fetch, type JsonFetch } from './json-fetch.ts'
import { createMetadata, type FindInMetadata } from './metadata.ts'

/** The options that concern all parts. */
export interface CommonOptions {
  /** The issuer of the access tokens: their `iss`, compared character by character. */
  readonly issuer: string
  /** The names of this API in `aud`. A token needs one of them. */
  readonly audience: string | readonly string[]
  /** Seconds by which the clock of the issuer may differ, for `exp` and `nbf`. Default: 10. */
  readonly clockTolerance?: number | undefined
  /** Seconds for each request to the issuer, and for each function of the host. Default: 5. */
  readonly timeout?: number | undefined
  /** Replaces the global `fetch`, for example to use a proxy. Must not follow redirects. */
  readonly fetch?: Fetch | undefined
  /** Returns the time in epoch seconds. Default: the clock of the system. */
  readonly now?: (() => number) | undefined
}

/** What the parts of a resource server share. */
export interface Context {
  readonly rules: ClaimRules
  readonly fetchJson: JsonFetch
  /** Returns the function that finds endpoints of the issuer. Throws a TypeError if the issuer has no safe URL. */
  readonly metadata: () => FindInMetadata
  /** Seconds for one request to the issuer, or one call of a function of the host. */
  readonly timeout: number
  /** Seconds for which a request waits for the result of another one, which can need several fetches. */
  readonly maxWait: number
}

/** The same function for all resource servers, which share the memory of used proofs. */
const systemClock = (): number => Date.now() / 1000

/** @throws TypeError with one sentence for a mistake in the options */
export function contextOf(options: CommonOptions): Context {
  const issuer = text(options.issuer, 'issuer')
  const audience = texts(options.audience, 'audience')
  const clockTolerance = seconds(options.clockTolerance, 10, [0, 300], 'clockTolerance')
  const now = options.now ?? systemClock
  const timeout = seconds(options.timeout, 5, [0.05, 60], 'timeout')
  const maxWait = 4 * timeout
  const fetchJson = createJsonFetch(options.fetch ?? ((url, init) => fetch(url, init)), timeout)
  let found: FindInMetadata | undefined
  return {
    rules: { issuer, audience, clockTolerance, now },
    fetchJson,
    timeout,
    maxWait,
    metadata: () => {
      found ??= createMetadata(safeUrl(issuer, 'issuer'), fetchJson, { maxWait, now })
      return found
    },
  }
}
