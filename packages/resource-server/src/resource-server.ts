import { createCheckBinding } from './binding.ts'
import type { Claims } from './claims.ts'
import { contextOf } from './context.ts'
import { type Credentials, readCredentials } from './credentials.ts'
import { createDpop } from './dpop/dpop.ts'
import { assertOptions, type ResourceServerOptions } from './options.ts'
import type { PresentedRequest } from './presented-request.ts'
import { isRefused, kindOf, type Reason, type Refused, refused } from './refusal.ts'
import { grantedScopes, type Requirement, scopesOf } from './requirement.ts'
import { refusalResponse, schemesOf, withHeaders } from './response.ts'
import { createValidateToken } from './validate-token.ts'

/** A valid access token that its sender may use. */
export interface AccessToken {
  /** The claims, or the members of the introspection response. */
  readonly claims: Claims
  readonly scopes: readonly string[]
  /** Headers that the response must have. */
  readonly headers: Readonly<Record<string, string>>
}

/** The result of a check: a token, or the response that the client must get. */
export type AccessDecision =
  | { readonly token: AccessToken; readonly response?: undefined; readonly reason?: undefined }
  | { readonly token?: undefined; readonly response: Response; readonly reason: Reason }

/** Protects an API with access tokens. */
export interface ResourceServer {
  /**
   * Checks the access token of a request. Resolves for every request; input never makes it reject.
   *
   * @throws TypeError with one sentence for a mistake in the requirement
   */
  authorize(request: PresentedRequest, requirement?: Requirement): Promise<AccessDecision>
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
  const { clientCertificate: findCertificate, requiredBinding: required, realm, scopeClaim = 'scope' } = options
  const dpop = options.dpop === undefined ? undefined : createDpop(options.dpop, context)
  const checkBinding = createCheckBinding({ dpop, findCertificate, required }, context)
  const schemes = schemesOf(realm, dpop?.algorithms, required)

  async function check(request: PresentedRequest, credentials: Credentials, needed: readonly string[]) {
    const validated = await validateToken(credentials.token)
    if (isRefused(validated)) return validated
    const { claims } = validated
    const proof = await checkBinding(request, credentials, claims)
    if (isRefused(proof)) return proof
    const scopes = grantedScopes(claims[scopeClaim])
    if (!needed.every((scope) => scopes.includes(scope))) return refused('scope_missing')
    // Last, so that only an accepted request uses up a proof and room in the store.
    return (await proof.spend()) ?? { claims, scopes, headers: proof.headers }
  }

  async function report({ reason, cause }: Refused): Promise<void> {
    try {
      await options.onRefusal?.({ reason, status: kindOf(reason).status, ...(cause !== undefined && { cause }) })
    } catch {
      // A logger that fails must not change the response, and one that rejects must not end the process.
    }
  }

  async function authorize(request: PresentedRequest, requirement: Requirement = {}): Promise<AccessDecision> {
    const scopes = scopesOf(requirement)
    const credentials = readCredentials(request.headers)
    const outcome = isRefused(credentials) ? credentials : await check(request, credentials, scopes)
    if (!isRefused(outcome)) return { token: outcome }
    void report(outcome)
    const used = isRefused(credentials) ? undefined : credentials.scheme
    const { reason } = outcome
    const headers = (await dpop?.headersFor(reason)) ?? {}
    return { response: refusalResponse(reason, { schemes, used, scopes, headers }), reason }
  }

  return {
    authorize,

    protect(handler, requirement = {}) {
      scopesOf(requirement)
      return async (request, ...rest) => {
        const { token, response } = await authorize(request, requirement)
        return response ?? withHeaders(await handler(request, token, ...rest), token.headers)
      }
    },
  }
}
