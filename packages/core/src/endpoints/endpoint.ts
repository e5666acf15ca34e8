import type { ValidationLimits } from '../abuse/validation-limits.ts'
import type { CallerKind } from '../errors/error-response.ts'
import { isOAuthError } from '../errors/oauth-error.ts'
import type { Trace } from '../events/recorder.ts'
import type { CorsPolicy } from '../http/cors.ts'
import type { PlainResponse } from '../http/plain-response.ts'

/** The endpoint names, as in the option `endpoints` and in `provider.handlers`. */
export const endpointNames = [
  'token',
  'identityTokenValidation',
  'userinfo',
  'accessTokenValidation',
  'introspection',
  'revocation',
  'discovery',
  'authorizationServerMetadata',
  'jwks',
] as const
export type EndpointName = (typeof endpointNames)[number]

/** An endpoint. The router implements the method check, error responses, CORS and events for all endpoints. */
export interface Endpoint {
  readonly name: EndpointName
  readonly methods: readonly ('GET' | 'POST')[]
  /** The kind of caller, which determines the status and headers of errors. */
  readonly caller: CallerKind
  /** Which other origins can read its responses. */
  readonly cors: CorsPolicy
  handle(request: Request, trace: Trace): Promise<PlainResponse>
}

const isInvalidToken = (thrown: unknown): boolean =>
  isOAuthError(thrown) && thrown.code === 'invalid_token' && thrown.details.withoutCredentials !== true

/** Wraps a validation endpoint with a limit on invalid tokens per client address. */
export function limitedEndpoint(endpoint: Endpoint, limits: ValidationLimits | undefined): Endpoint {
  if (limits === undefined) return endpoint
  return {
    ...endpoint,
    async handle(request, trace) {
      // Before the body is read, so that a refused request costs little.
      await limits.admit(trace)
      try {
        return await endpoint.handle(request, trace)
      } catch (thrown) {
        if (isInvalidToken(thrown)) await limits.countFailure(trace)
        throw thrown
      }
    },
  }
}
