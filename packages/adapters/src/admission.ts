import { refusal } from './refusal.ts'

// No userinfo, and nothing in the place of the host that a parser could take for something else.
const webUrl = /^https?:\/\/(?:\[[\d:a-f.]+\]|[\w.~-]+)(?::\d+)?(?:[/?#]|$)/iu

// Measured: Deno and workerd write `Host` into the URL as it is, so that `Host: x/connect/token?` chooses the path; Bun leaves a URL that is a path only.
const hostForm = /^(?:(?:\[[\d:a-f.]+\]|[\w.~-]+)(?::\d+)?)?$/iu

/**
 * The answer to a request that no provider should be asked, because two parties could read it in two ways; `undefined` when nothing is wrong with it. The
 * host itself is not judged: it means nothing here, the issuer is configuration.
 *
 * @see RFC 9112 section 3.2: a malformed `Host` is answered with 400
 */
export function refusalOf({ url, headers }: Request): Response | undefined {
  if (!webUrl.test(url)) return refusal(400, 'invalid_request', 'The request target is not a path of a host')
  if (!hostForm.test(headers.get('host') ?? '')) {
    return refusal(400, 'invalid_request', 'The Host header is malformed')
  }
  // Fetch joins repeated headers with a comma, and neither Basic nor Bearer can hold one: a proxy could have seen another caller.
  if (headers.get('authorization')?.includes(',')) {
    return refusal(400, 'invalid_request', 'The Authorization header is repeated')
  }
  return undefined
}
