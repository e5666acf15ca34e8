import { createBoundedCache } from './bounded-cache.ts'
import type { Context } from './context.ts'
import { sha256 } from './digest.ts'
import { createInFlight } from './in-flight.ts'
import { withTimeout } from './json-fetch.ts'
import type { ValidateToken } from './jwt.ts'
import { assertMembers, safeUrl, seconds, text } from './option-checks.ts'
import { isRefused, type Refused, refused } from './refusal.ts'
import { type Claims, claimsProblem } from './token-claims.ts'

/** A request to the introspection endpoint, which a function of the host authenticates. */
export interface IntrospectionRequest {
  readonly url: string
  readonly headers: Headers
  readonly body: URLSearchParams
}

/** How reference tokens are introspected. Either `clientId` and `clientSecret`, or `authenticate`. */
export interface IntrospectionOptions {
  /** Default: the `introspection_endpoint` in the issuer's metadata. */
  readonly endpoint?: string | undefined
  /** The credentials of this API, for HTTP Basic (RFC 6749 section 2.3.1). */
  readonly clientId?: string | undefined
  readonly clientSecret?: string | undefined
  /** Adds other credentials to the headers or the body, such as a client assertion. */
  readonly authenticate?: ((request: IntrospectionRequest) => void | Promise<void>) | undefined
  /** Seconds for which an active token is remembered: how long a revoked one is accepted. Default: 30. */
  readonly maxAge?: number | undefined
  /** Seconds for which it is remembered that a token is not active. Default: 5. */
  readonly inactiveMaxAge?: number | undefined
  /**
   * Whether the response must have `aud`. Default: true. Without it, the issuer must refuse to introspect tokens of other
   * APIs, and refresh tokens.
   */
  readonly requireAudience?: boolean | undefined
}

const optionNames = [
  'endpoint',
  'clientId',
  'clientSecret',
  'authenticate',
  'maxAge',
  'inactiveMaxAge',
  'requireAudience',
]

interface Active {
  /** The members of the response. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** The encoding of forms. */
const encoded = (value: string): string => new URLSearchParams([['', value]]).toString().slice(1)

function createAuthenticate(options: IntrospectionOptions): (request: IntrospectionRequest) => void | Promise<void> {
  const { clientId, clientSecret, authenticate } = options
  if (authenticate !== undefined) {
    if (clientId === undefined && clientSecret === undefined) return authenticate
    throw new TypeError('introspection must not have both clientId and authenticate')
  }
  const id = text(clientId, 'introspection.clientId')
  const secret = text(clientSecret, 'introspection.clientSecret')
  const authorization = `Basic ${btoa(`${encoded(id)}:${encoded(secret)}`)}`
  return ({ headers }) => headers.set('authorization', authorization)
}

/**
 * Validates tokens at the introspection endpoint of the issuer. Concurrent requests with the same token share one
 * introspection.
 *
 * @throws TypeError with one sentence for a mistake in the options
 * @see RFC 7662
 */
export function createIntrospect(
  options: IntrospectionOptions,
  { rules, fetchJson, metadata, timeout, maxWait }: Context,
): ValidateToken {
  assertMembers(options, optionNames, 'introspection')
  const authenticate = createAuthenticate(options)
  const maxAge = seconds(options.maxAge, 30, [0, 3600], 'introspection.maxAge')
  const inactiveMaxAge = seconds(options.inactiveMaxAge, 5, [0, 300], 'introspection.inactiveMaxAge')
  const required = options.requireAudience === false ? [] : ['aud']
  const { endpoint } = options
  const safeEndpoint = endpoint === undefined ? undefined : safeUrl(endpoint, 'introspection.endpoint')
  const find = safeEndpoint === undefined ? metadata() : async () => safeEndpoint

  const active = createBoundedCache<Active>(rules.now)
  // A cache of its own, so that guesses do not displace the tokens in use.
  const inactive = createBoundedCache<true>(rules.now)
  const inFlight = createInFlight<Active | Refused>(maxWait)

  async function introspect(token: string): Promise<Active['claims']> {
    const url = await find('introspection_endpoint')
    const body = new URLSearchParams({ token, token_type_hint: 'access_token' })
    const headers = new Headers()
    await withTimeout(Promise.resolve(authenticate({ url, headers, body })), timeout)
    headers.set('content-type', 'application/x-www-form-urlencoded')
    const response = await fetchJson(url, { method: 'POST', headers, body: body.toString() })
    // Some servers write members that they do not have as null.
    return Object.fromEntries(Object.entries(response).filter(([, value]) => value !== null))
  }

  async function ask(token: string, key: string): Promise<Active | Refused> {
    const asked = rules.now()
    const claims = await introspect(token)
    if (claims.active !== true) {
      inactive.set(key, true, asked + inactiveMaxAge)
      return refused('token_inactive')
    }
    // Without the tolerance of clocks: the issuer's own clock has decided.
    const until = typeof claims.exp === 'number' ? claims.exp : Number.POSITIVE_INFINITY
    active.set(key, { claims }, Math.min(asked + maxAge, until))
    return { claims }
  }

  async function outcomeFor(token: string): Promise<Active | Refused> {
    // The caches contain no tokens.
    const key = await sha256(token)
    if (inactive.get(key) !== undefined) return refused('token_inactive')
    const known = active.get(key)
    if (known !== undefined) return known
    try {
      return await inFlight(key, () => ask(token, key))
    } catch (error) {
      return refused('introspection_unavailable', error)
    }
  }

  return async (token) => {
    const outcome = await outcomeFor(token)
    if (isRefused(outcome)) return outcome
    const { claims } = outcome
    const type = claims.token_type
    // RFC 6749 section 7.1: without case. A refresh token has no such type.
    if (type !== undefined && !/^(?:bearer|dpop)$/iu.test(String(type))) return refused('token_type_unsupported')
    const problem = claimsProblem(claims, required, rules)
    // A copy, because the response is remembered.
    return problem === undefined ? { claims: structuredClone(claims) as Claims } : refused(problem)
  }
}
