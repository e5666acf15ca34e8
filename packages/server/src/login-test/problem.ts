import { errorMessage } from '../error-message.ts'

/** Members of the errors of an OAuth client library, by RFC 6749 sections 4.1.2.1 and 5.2. */
interface Response {
  readonly error?: unknown
  readonly error_description?: unknown
}

/** Returns why a login failed, in the words of the server if it has responded. */
export function loginProblem(thrown: unknown, issuer: string): string {
  const { error, error_description: description } = (thrown ?? {}) as Response
  if (typeof error === 'string') {
    return `the server answered ${error}${typeof description === 'string' ? `: ${description}` : ''}`
  }
  const { cause, code } = (thrown ?? {}) as { readonly cause?: unknown; readonly code?: unknown }
  // The library has no words for the response to wrong client authentication (RFC 6749 section 5.2).
  if (code === 'OAUTH_WWW_AUTHENTICATE_CHALLENGE') return 'the server refused the client; check the secret'
  const { code: reason } = (cause ?? {}) as { readonly code?: unknown }
  if (reason === 'ECONNREFUSED') return `no server listens at ${issuer}; start it with grantry serve`
  return `${errorMessage(thrown)}${typeof code === 'string' ? ` (${code})` : ''}`
}
