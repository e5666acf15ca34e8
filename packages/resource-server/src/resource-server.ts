import type { Claims } from './claims.ts'
import { contextOf } from './context.ts'
import { type Credentials, readCredentials } from './credentials.ts'
import { assertOptions, type ResourceServerOptions } from './options.ts'
import { isRefused, kindOf, type Reason, type Refused, refused } from './refusal.ts'
import { grantedScopes, type Requirement, scopesOf } from './requirement.ts'
import { refusalResponse } from './response.ts'
import { createValidateToken } from './validate-token.ts'

/** The part of a request that is checked. Each `Request` has it. */
export interface PresentedRequest {
  readonly method: string
  /** Absolute. */
  readonly url: string
  readonly headers: Headers
}

/** A valid access token that its sender may use. */
export interface AccessToken {
  /** The claims, or the members of the introspection response. */
  readonly claims: Claims
  readonly scopes: readonly string[]
  /** Headers that the response must have. */
  readonly headers: Readonly<Record<string, string>>
}

/** The result of a check: a token, or the response that the client must get. */
export type Authorization =
  | { readonly token: AccessToken; readonly response?: undefined; readonly reason?: undefined }
  | { readonly token?: undefined; readonly response: Response; readonly reason: Reason }

/** Protects an API with access tokens. */
export interface ResourceServer {
  /**
   * Checks the access token of a request. Resolves for every request; input never makes it reject.
   *
   * @throws TypeError with one sentence for a mistake in the requirement
   */
  authorize(request: PresentedRequest, requirement?: Requirement): Promise<Authorization>
  /**
   * Returns a handler that calls yours only with a valid token. The arguments after the request are passed on.
   *
   * @throws TypeError with one sentence for a mistake in the requirement
   */
  protect<R extends Request, A extends readonly unknown[]>(
    handler: (request: R, token: AccessToken, ...rest: A) => Response | Promise<Response>,
    requirement?: Requirement,
  ): (request: R, ...rest: A) => Promise<Response>
}

/**
 * Creates a resource server: it accepts access tokens of one issuer.
 *
 * @throws TypeError with one sentence for a mistake in the options
 * @see RFC 6750, RFC 9068
 */
export function createResourceServer(options: ResourceServerOptions): ResourceServer {
  assertOptions(options)
  const context = contextOf(options)
  const validateToken = createValidateToken(options, context)
  const { realm, scopeClaim = 'scope' } = options
  const schemes = [{ name: 'Bearer' as const, params: realm === undefined ? {} : { realm } }]

  async function check({ token }: Credentials, required: readonly string[]): Promise<AccessToken | Refused> {
    const validated = await validateToken(token)
    if (isRefused(validated)) return validated
    const { claims } = validated
    const scopes = grantedScopes(claims[scopeClaim])
    if (!required.every((scope) => scopes.includes(scope))) return refused('scope_missing')
    return { claims, scopes, headers: {} }
  }

  function report({ reason, cause }: Refused): void {
    try {
      options.onRefusal?.({ reason, status: kindOf(reason).status, ...(cause !== undefined && { cause }) })
    } catch {
      // A logger that fails must not change the response.
    }
  }

  async function authorize(request: PresentedRequest, requirement: Requirement = {}): Promise<Authorization> {
    const scopes = scopesOf(requirement)
    const credentials = readCredentials(request.headers)
    const outcome = isRefused(credentials) ? credentials : await check(credentials, scopes)
    if (!isRefused(outcome)) return { token: outcome }
    report(outcome)
    const used = isRefused(credentials) ? undefined : credentials.scheme
    const { reason } = outcome
    return { response: refusalResponse(reason, { schemes, used, scopes, headers: {} }), reason }
  }

  return {
    authorize,

    protect(handler, requirement = {}) {
      scopesOf(requirement)
      return async (request, ...rest) => {
        const { token, response } = await authorize(request, requirement)
        return response ?? handler(request, token, ...rest)
      }
    },
  }
}
