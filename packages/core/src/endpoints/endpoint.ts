import type { Presentation } from '../errors/error-answer.ts'
import type { Trace } from '../events/trace.ts'
import type { Answer } from '../http/answer.ts'
import type { CorsPolicy } from '../http/cors.ts'

/** The names under which endpoints are switched, moved and called. */
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

/** One path. Its method check, errors, CORS headers and events are the same for all and live in the router. */
export interface Endpoint {
  readonly name: EndpointName
  readonly methods: readonly ('GET' | 'POST')[]
  /** How its refusals look. */
  readonly presents: Presentation
  /** Which pages of other origins may read its responses. */
  readonly cors: CorsPolicy
  handle(request: Request, trace: Trace): Promise<Answer>
}
