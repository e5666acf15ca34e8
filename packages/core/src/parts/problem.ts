import type { OAuthError } from '../errors/oauth-error.ts'
import type { PlainResponse } from '../http/plain-response.ts'

/** RFC 9110 section 15. */
const titles: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  409: 'Conflict',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  414: 'URI Too Long',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  428: 'Precondition Required',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}

/**
 * Returns the response to an error as a problem (RFC 9457), with the same status and headers.
 *
 * @param response the response in the form of OAuth
 */
export function problemResponse({ code, message, details }: OAuthError, response: PlainResponse): PlainResponse {
  const { status, headers } = response
  const { member, explanation = message, withoutCredentials } = details
  const problem = {
    type: 'about:blank',
    title: titles[status] ?? 'Error',
    status,
    // An internal failure has no description. RFC 6750 section 3.1: a request without credentials gets no error code.
    ...(code !== 'server_error' && { detail: explanation }),
    ...(withoutCredentials === undefined && { error: code }),
    ...(member !== undefined && { member }),
  }
  return { status, headers: { ...headers, 'content-type': 'application/problem+json' }, body: JSON.stringify(problem) }
}
