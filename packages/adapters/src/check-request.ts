import { adapterErrorResponse } from './error-response.ts'

// Excludes userinfo and any host that another parser could read differently.
const webUrl = /^https?:\/\/(?:\[[\d:a-f.]+\]|[\w.~-]+)(?::\d+)?(?:[/?#]|$)/iu

// Measured: Deno and workerd copy `Host` into the URL verbatim, so `Host: x/connect/token?` selects the path. Bun can
// produce a URL without a host.
const hostForm = /^(?:(?:\[[\d:a-f.]+\]|[\w.~-]+)(?::\d+)?)?$/iu

/**
 * Returns the 400 response for a request that a proxy and the provider could interpret differently, otherwise
 * `undefined`. Any well-formed host is accepted: the issuer comes from the configuration, not from the request.
 *
 * @see RFC 9112 section 3.2: a malformed `Host` gets 400
 */
export function checkRequest({ url, headers }: Request): Response | undefined {
  if (!webUrl.test(url))
    return adapterErrorResponse(400, 'invalid_request', 'The request target is not a path of a host')
  if (!hostForm.test(headers.get('host') ?? '')) {
    return adapterErrorResponse(400, 'invalid_request', 'The Host header is malformed')
  }
  // Fetch joins repeated headers with a comma, which neither Basic nor Bearer credentials contain. A proxy may have
  // authenticated a different caller.
  if (headers.get('authorization')?.includes(',')) {
    return adapterErrorResponse(400, 'invalid_request', 'The Authorization header is repeated')
  }
  return undefined
}
