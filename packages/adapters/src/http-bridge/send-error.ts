import type { ServerResponse } from 'node:http'
import { errorPage, errorPageHeaders, isForUser } from './error-page.ts'
import { sendText } from './send.ts'

/** An error response without a handler, or after a handler failed. */
export interface HttpError {
  readonly status: number
  readonly error: 'invalid_request' | 'server_error' | 'temporarily_unavailable'
  readonly description?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Whether the connection closes after the response; default `true`. */
  readonly last?: boolean
}

const malformed = (description: string): HttpError => ({ status: 400, error: 'invalid_request', description })

export const badTarget = malformed('The request target is not a path')
export const badHost = malformed('The Host header is malformed')
export const repeatedHeader = malformed('The Host, Content-Type or Authorization header is repeated')
export const tooManyHeaders: HttpError = { ...malformed('The request has too many header lines'), status: 431 }
export const badMethod: HttpError = {
  status: 405,
  error: 'invalid_request',
  description: 'The method is not allowed',
  headers: { allow: 'GET, HEAD, POST, OPTIONS' },
}
export const overloaded: HttpError = {
  status: 503,
  error: 'temporarily_unavailable',
  description: 'The service is temporarily unavailable',
  headers: { 'retry-after': '1' },
  last: false,
}
export const internalServerError: HttpError = { status: 500, error: 'server_error' }

/**
 * Sends an error as JSON (RFC 6749 section 5.2), and as a page to a browser that shows it to its user. Closes the connection instead when the head of another response was
 * already sent.
 */
export function sendError(res: ServerResponse, { status, error, description, headers, last = true }: HttpError): void {
  if (res.headersSent) {
    res.destroy()
    return
  }
  if (last) res.shouldKeepAlive = false
  const { headers: sent } = res.req
  const isPage = isForUser((name) => sent[name] as string | undefined)
  sendText(res, status, {
    body: isPage
      ? errorPage(error)
      : JSON.stringify({ error, ...(description !== undefined && { error_description: description }) }),
    headers: {
      ...(isPage ? errorPageHeaders : { 'content-type': 'application/json' }),
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      pragma: 'no-cache',
      ...headers,
    },
  })
}
