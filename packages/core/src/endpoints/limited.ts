import type { ValidationLimits } from '../abuse/validation-limits.ts'
import { isOAuthError, reasonOf } from '../errors/oauth-error.ts'
import type { Trace } from '../events/recorder.ts'

/**
 * The reasons of refusals that are no guess, because the token is one of the provider's, or has an impossible form. APIs
 * and users behind one address would lock each other out. An expired token counts: what is stored of it may be gone.
 */
const notGuessed: ReadonlySet<string> = new Set([
  'malformed_authorization',
  'wrong_audience',
  'client_disabled',
  'family_revoked',
  'client_revoked',
  'subject_revoked',
  'access_withdrawn',
  'user_inactive',
  'token_revoked',
  'token_bound',
  'wrong_scheme',
  'proof_missing',
  'wrong_key',
])

const isGuess = (thrown: unknown): boolean =>
  isOAuthError(thrown) &&
  thrown.code === 'invalid_token' &&
  thrown.details.withoutCredentials !== true &&
  !notGuessed.has(reasonOf(thrown))

/** Wraps a handler with a limit on invalid tokens per client address. */
export function limited<R>(
  handle: (request: Request, trace: Trace) => Promise<R>,
  limits: ValidationLimits,
): (request: Request, trace: Trace) => Promise<R> {
  return async (request, trace) => {
    // Before the body is read, so that a refused request costs little.
    await limits.admit(trace)
    try {
      return await handle(request, trace)
    } catch (thrown) {
      if (isGuess(thrown)) await limits.countFailure(trace)
      throw thrown
    }
  }
}
