import { neverStored } from './answer.ts'

const methods = 'GET, POST, OPTIONS'
const requestHeaders = 'authorization, content-type'
const exposedHeaders = 'www-authenticate, retry-after'

export const isPreflight = (request: Request): boolean =>
  request.method === 'OPTIONS' && request.headers.has('access-control-request-method')

/** Lets the page of an allowed origin read the answer. Credentials of the browser are never involved: no cookie is read here. */
export const originHeaders = (origin: string): Record<string, string> => ({
  'access-control-allow-origin': origin,
  'access-control-expose-headers': exposedHeaders,
})

export function preflightHeaders(origin: string | undefined): Record<string, string> {
  const headers: Record<string, string> = { ...neverStored, vary: 'Origin' }
  if (origin === undefined) return headers
  return {
    ...headers,
    'access-control-allow-origin': origin,
    'access-control-allow-methods': methods,
    'access-control-allow-headers': requestHeaders,
    'access-control-max-age': '600',
  }
}
