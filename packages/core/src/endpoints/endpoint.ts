import type { Presentation } from '../errors/error-answer.ts'
import type { Trace } from '../events/trace.ts'
import type { Answer } from '../http/answer.ts'
import type { CorsPolicy } from '../http/cors.ts'

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
  readonly presents: Presentation
  /** Which other origins can read its responses. */
  readonly cors: CorsPolicy
  handle(request: Request, trace: Trace): Promise<Answer>
}
