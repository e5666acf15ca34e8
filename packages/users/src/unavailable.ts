import { isOAuthError, OAuthError } from '@grantry/core'

/** The error for a database that does not respond: 503, never "wrong password". */
export const unavailable = (cause: unknown): OAuthError =>
  isOAuthError(cause)
    ? cause
    : new OAuthError('temporarily_unavailable', 'The service is temporarily unavailable', {
        reason: 'users_unavailable',
        cause,
        retryAfter: 1,
      })

/** The error for a record of a user that the operator must mend. @param problem without a password or its hash */
export const unusableRecord = (problem: string): OAuthError =>
  new OAuthError('server_error', 'The request failed', { reason: 'user_record_unusable', cause: new Error(problem) })

/** Calls a database, whose failures become `unavailable`. */
export async function guarded<T>(operate: () => Promise<T>): Promise<T> {
  try {
    return await operate()
  } catch (error) {
    throw unavailable(error)
  }
}
