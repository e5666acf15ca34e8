import type { OAuthError } from '../errors/oauth-error.ts'
import type { Trace } from '../events/recorder.ts'
import type { EndpointKit, EndpointRequest } from '../parts/endpoint.ts'
import type { EndpointResponse } from '../parts/reply.ts'
import type { Services } from '../services.ts'
import type { CoreEndpoint } from './core-endpoint.ts'
import { requestFacts } from './read-request.ts'

/** Shows a refusal to a user, instead of JSON. Throws if the endpoint fails to do so. */
export type PresentError = (error: OAuthError, request: Request, trace: Trace) => Promise<EndpointResponse>

/** Returns `undefined` for an endpoint whose errors are JSON. */
export function createPresentError(
  endpoint: Pick<CoreEndpoint, 'presentError' | 'createToResponse'>,
  kit: EndpointKit,
  { errors, runtime }: Pick<Services, 'errors' | 'runtime'>,
): PresentError | undefined {
  const { presentError, createToResponse } = endpoint
  if (presentError === undefined || createToResponse === undefined) return undefined
  const urls = { origin: new URL(kit.issuer).origin, alias: undefined }
  const toResponse = createToResponse({ errors, recipient: 'client', isPublic: true })
  return async (error, request, trace) => {
    const facts: EndpointRequest = requestFacts(request, trace, urls, runtime)
    const reply = await presentError(error, facts, kit)
    if (reply.status !== undefined) throw new TypeError('presentError() returned a status, which the error determines')
    return toResponse({ ...reply, error })
  }
}
