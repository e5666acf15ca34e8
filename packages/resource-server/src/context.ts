import { createMetadata, type FindInMetadata } from './api-metadata.ts'
import { isExact } from './exact-json.ts'
import { type IssuerPattern, type Issuers, issuersOf } from './issuers.ts'
import { createJsonFetch, type Fetch, type JsonFetch } from './json-fetch.ts'
import { safeUrl, seconds, text } from './option-checks.ts'
import { audiencesOf, type Resource, resourceOf } from './resource.ts'
import type { ClaimRules } from './token-claims.ts'

/** The options that concern all parts. */
export interface CommonOptions {
  /** The issuer of the access tokens: their `iss`, compared character by character; or a pattern for many issuers. */
  readonly issuer: string | IssuerPattern
  /** The names of this API in `aud`. A token needs one of them. Default: `resource`. */
  readonly audience?: string | readonly string[] | undefined
  /**
   * The identifier of this API: the URL that clients are given, such as `https://api.example.com/mcp`. The API serves its
   * metadata document (RFC 9728), and each challenge names it. Default: there is none, and `audience` is required.
   */
  readonly resource?: string | undefined
  /**
   * The claim that stands for `aud`, for issuers whose access tokens have none: `client_id` at Amazon Cognito. Requires
   * `requiredClaims`, which distinguish access tokens from identity tokens. Default: `aud`.
   */
  readonly audienceClaim?: string | undefined
  /** Claims that a token must have with exactly this value, such as `{ token_use: 'access' }`. Default: none. */
  readonly requiredClaims?: Readonly<Record<string, string | number | boolean>> | undefined
  /** Seconds by which the clock of the issuer may differ, for `exp` and `nbf`. Default: 10. */
  readonly clockTolerance?: number | undefined
  /** Seconds for each request to the issuer, and for each function of the host. Default: 5. */
  readonly timeout?: number | undefined
  /** Replaces the global `fetch`, for example to use a proxy. Must not follow redirects. */
  readonly fetch?: Fetch | undefined
  /** Returns the time in epoch seconds. Default: the clock of the system. */
  readonly now?: (() => number) | undefined
}

/** The values that the parts of a resource server share. */
export interface Context {
  readonly rules: ClaimRules
  readonly issuers: Issuers
  readonly resource: Resource | undefined
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

function requiredClaimsOf({ audienceClaim = 'aud', requiredClaims = {} }: CommonOptions): ClaimRules['requiredClaims'] {
  if (typeof requiredClaims !== 'object' || requiredClaims === null || Array.isArray(requiredClaims)) {
    throw new TypeError('requiredClaims must be an object')
  }
  for (const [name, value] of Object.entries(requiredClaims)) {
    if (!['string', 'number', 'boolean'].includes(typeof value))
      throw new TypeError(`requiredClaims.${name} must be a string, a number or a boolean`)
    if (typeof value === 'number' && !isExact(value))
      throw new TypeError(`requiredClaims.${name} is a number that JSON does not keep exactly: write it as text`)
  }
  if (audienceClaim === 'aud' || Object.keys(requiredClaims).length > 0) return { ...requiredClaims }
  throw new TypeError('audienceClaim requires requiredClaims, such as { token_use: "access" }')
}

/** @throws TypeError with one sentence for a mistake in the options */
export function contextOf(options: CommonOptions): Context {
  const issuers = issuersOf(options.issuer)
  const resource = options.resource === undefined ? undefined : resourceOf(options.resource)
  const audience = audiencesOf(options.audience, resource)
  const audienceClaim = text(options.audienceClaim ?? 'aud', 'audienceClaim')
  const requiredClaims = requiredClaimsOf(options)
  const clockTolerance = seconds(options.clockTolerance, 10, [0, 300], 'clockTolerance')
  const now = options.now ?? systemClock
  const timeout = seconds(options.timeout, 5, [0.05, 60], 'timeout')
  const maxWait = 4 * timeout
  const fetchJson = createJsonFetch(options.fetch ?? ((url, init) => fetch(url, init)), timeout)
  let findInMetadata: FindInMetadata | undefined
  return {
    rules: { issuers, audience, audienceClaim, requiredClaims, clockTolerance, now },
    issuers,
    resource,
    fetchJson,
    timeout,
    maxWait,
    metadata: () => {
      if (issuers.single === undefined) {
        throw new TypeError('issuer.pattern requires jwt.jwks or jwt.jwksUri, and introspection.endpoint')
      }
      findInMetadata ??= createMetadata(safeUrl(issuers.single, 'issuer'), fetchJson, { maxWait, now })
      return findInMetadata
    },
  }
}
