import { type AuthInfo, authInfoOf } from './auth-info.ts'
import { createCheckBinding } from './binding.ts'
import { type Context, contextOf } from './context.ts'
import { type Credentials, readCredentials } from './credentials.ts'
import { createDpop } from './dpop/dpop.ts'
import type { PresentedRequest } from './presented-request.ts'
import { isRefused, kindOf, type Reason, type Refused, refused } from './refusal.ts'
import { type CheckedRequirement, grantedScopes, type Requirement, requirementOf } from './requirement.ts'
import { createResourceMetadata, type ServeResourceMetadata } from './resource-metadata.ts'
import {
  assertOptions,
  type ProtectedResourceOptions,
  type ResourceServerOptions,
  type ResourceServerSettings,
} from './resource-server-options.ts'
import { refusalResponse, schemesOf, withHeaders } from './response.ts'
import type { Claims } from './token-claims.ts'
import { authenticationProblem } from './user-authentication.ts'
import { createValidateToken } from './validate-token.ts'
import { validateAlone, verificationError } from './verify.ts'

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
   * Returns the metadata document of this resource (RFC 9728), and the response to its preflight, if the request is for it;
   * `undefined` for all other requests. `protect()` and the middlewares call it themselves.
   */
  metadata(request: PresentedRequest): Response | undefined
  /**
   * Validates a token without its request, for libraries that read the header themselves, such as the MCP SDKs. Tokens
   * that are bound to a key are refused: only `authorize()` can check the proof.
   *
   * @throws VerificationError with the status 401 if the token is not valid, 503 if it cannot be validated now
   */
  verify(token: string): Promise<AuthInfo>
  /**
   * Checks the access token of a request. Resolves for every request; input never makes it reject.
   *
   * @throws TypeError with one sentence for a mistake in the requirement
   */
  authorize(request: PresentedRequest, requirement?: Requirement): Promise<AccessDecision>
  /**
   * Returns a handler that calls yours only with a valid token. The arguments after the request are passed on. Requests
   * for the metadata document get it.
   *
   * @throws TypeError with one sentence for a mistake in the requirement
   */
  protect<R extends Request, A extends readonly unknown[]>(
    handler: (request: R, token: AccessToken, ...rest: A) => Response | Promise<Response>,
    requirement?: Requirement,
  ): (request: R, ...rest: A) => Promise<Response>
}

/** Serves nothing without `resource`. */
function metadataOf(
  { metadata = {}, clientCertificate, requiredBinding }: ResourceServerSettings,
  { resource, issuers }: Context,
  proofAlgorithms: readonly string[] | undefined,
): ServeResourceMetadata {
  if (resource === undefined) return () => undefined
  return createResourceMetadata(metadata, {
    resource,
    issuer: issuers.single,
    proofAlgorithms,
    hasCertificates: clientCertificate !== undefined,
    required: requiredBinding,
  })
}

/**
 * Creates a resource server: it accepts access tokens of one issuer. `audience` or `resource` is required.
 *
 * @throws TypeError with one sentence for a mistake in the options
 * @see RFC 6750, RFC 9068, RFC 9470, RFC 9728
 */
export function createResourceServer(options: ResourceServerOptions | ProtectedResourceOptions): ResourceServer {
  assertOptions(options)
  const context = contextOf(options)
  const { resource, rules } = context
  const validateToken = createValidateToken(options, context)
  const { clientCertificate: findCertificate, requiredBinding: required, realm, scopeClaim = 'scope' } = options
  const dpop = options.dpop === undefined ? undefined : createDpop(options.dpop, context)
  const checkBinding = createCheckBinding({ dpop, findCertificate, required }, context)
  const schemes = schemesOf(realm, dpop?.algorithms, required)
  const serveMetadata = metadataOf(options, context, dpop?.algorithms)

  async function check(request: PresentedRequest, credentials: Credentials, needed: CheckedRequirement) {
    const validated = await validateToken(credentials.token)
    if (isRefused(validated)) return validated
    const { claims } = validated
    const proof = await checkBinding(request, credentials, claims)
    if (isRefused(proof)) return proof
    const scopes = grantedScopes(claims[scopeClaim])
    if (!needed.scopes.every((scope) => scopes.includes(scope))) return refused('scope_missing')
    const problem = authenticationProblem(claims, needed, rules)
    if (problem !== undefined) return refused(problem)
    // Comes last, so that only an accepted request uses up a proof and space in the store.
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
    const needed = requirementOf(requirement)
    const credentials = readCredentials(request.headers)
    const outcome = isRefused(credentials) ? credentials : await check(request, credentials, needed)
    if (!isRefused(outcome)) return { token: outcome }
    void report(outcome)
    const used = isRefused(credentials) ? undefined : credentials.scheme
    const { reason } = outcome
    const headers = (await dpop?.headersFor(reason)) ?? {}
    const details = { schemes, used, requirement: needed, metadataUrl: resource?.metadataUrl, headers }
    return { response: refusalResponse(reason, details), reason }
  }

  return {
    metadata: serveMetadata,
    authorize,

    async verify(token) {
      const validated = await validateAlone(token, validateToken, required)
      if (!isRefused(validated)) {
        const { claims } = validated
        return authInfoOf(token, { claims, scopes: grantedScopes(claims[scopeClaim]) }, resource)
      }
      void report(validated)
      throw verificationError(validated)
    },

    protect(handler, requirement = {}) {
      requirementOf(requirement)
      return async (request, ...rest) => {
        const document = serveMetadata(request)
        if (document !== undefined) return document
        const { token, response } = await authorize(request, requirement)
        return response ?? withHeaders(await handler(request, token, ...rest), token.headers)
      }
    },
  }
}
