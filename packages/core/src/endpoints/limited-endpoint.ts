import type { ValidationLimits } from '../abuse/validation-limits.ts'
import { isOAuthError } from '../errors/oauth-error.ts'
import { isThenable } from '../promises.ts'
import type { Endpoint } from './endpoint.ts'

const saysInvalid = (thrown: unknown): boolean =>
  isOAuthError(thrown) && thrown.code === 'invalid_token' && thrown.details.withoutCredentials !== true

/** Wraps a validation endpoint with a limit on invalid tokens per client address. */
export function limitedEndpoint(endpoint: Endpoint, limits: ValidationLimits | undefined): Endpoint {
  if (limits === undefined) return endpoint
  return {
    ...endpoint,
    async handle(request, trace) {
      // Before the body is read, so that a refused request costs little.
      const admitted = limits.admit(trace)
      if (isThenable(admitted)) await admitted
      try {
        return await endpoint.handle(request, trace)
      } catch (thrown) {
        if (saysInvalid(thrown)) await limits.countFailure(trace)
        throw thrown
      }
    },
  }
}
