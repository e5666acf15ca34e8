import * as v from 'valibot'
import { parseUrl } from '../parse-url.ts'

const longest = 2000

const form =
  'must be an http or https URL, or have a private-use scheme with a dot such as com.example.app:/callback (RFC 8252 section 7.1)'

// The URL parser drops white space and control characters, and reads a backslash as a slash. A URI contains none of
// them (RFC 3986 section 2).
const strayCharacters = /[\s\\\p{Cc}]/u

// A private-use scheme without a dot is not based on a domain that the application owns. The browser itself handles
// others: javascript:, data:, file:.
const allowedScheme = /^(?:https?:\/\/|[a-z][a-z\d+-]*\.[a-z\d+.-]*:)/iu

/**
 * Returns why a client cannot register this redirect URI, or `undefined` if it can.
 *
 * @see RFC 6749 section 3.1.2, RFC 8252 section 7.1, RFC 9700 section 2.1
 */
export function redirectUriProblem(uri: string): string | undefined {
  if (uri.length > longest || parseUrl(uri) === undefined || uri.includes('#')) {
    return 'must be an absolute URI of at most 2000 characters without a fragment'
  }
  if (strayCharacters.test(uri)) return 'must not contain white space, control characters or backslashes'
  return allowedScheme.test(uri) ? undefined : form
}

// Header values must be ASCII. Longer than a redirect URI: it includes the parameters of the response.
const locationForm = /^[\x21-\x7E]{1,8192}$/u

/**
 * Whether a response may redirect to this URI: an absolute URI with a scheme that a redirect URI can have, without a
 * user.
 *
 * @see RFC 9110 section 10.2.2
 */
export function isLocation(uri: string): boolean {
  if (!locationForm.test(uri) || uri.includes('\\') || !allowedScheme.test(uri)) return false
  const url = parseUrl(uri)
  // `https://id.example.com@evil.example` looks like another host.
  return url?.username === '' && url.password === ''
}

export const redirectUriSchema = v.pipe(
  v.string('must be a string'),
  v.check(
    (uri) => redirectUriProblem(uri) === undefined,
    ({ input }) => redirectUriProblem(input) ?? form,
  ),
)

// Matches the text, because the URL parser accepts many spellings of one address. `rest` is empty or starts with a
// slash or question mark, so nothing can extend the host.
const loopback = /^http:\/\/(127\.0\.0\.1|\[::1\])(?::([1-9]\d{0,4}))?((?:[/?].*)?)$/u

interface LoopbackUri {
  readonly host: string
  /** Path and query. */
  readonly rest: string
}

function loopbackOf(uri: string): LoopbackUri | undefined {
  const [, host, port = '', rest] = loopback.exec(uri) ?? []
  if (host === undefined || rest === undefined || Number(port) > 65_535) return undefined
  return { host, rest }
}

/**
 * Whether the client has registered this redirect URI. Compares character by character, except for the port of
 * `http://127.0.0.1` and `http://[::1]`: native applications listen on an ephemeral port. `localhost` is compared
 * exactly, because it depends on name resolution.
 *
 * @see RFC 8252 sections 7.3 and 8.3, RFC 9700 section 2.1
 */
export function isRegistered(uri: string, registered: readonly string[]): boolean {
  if (registered.includes(uri)) return true
  const requested = loopbackOf(uri)
  if (requested === undefined) return false
  return registered.some((candidate) => {
    const allowed = loopbackOf(candidate)
    return allowed !== undefined && allowed.host === requested.host && allowed.rest === requested.rest
  })
}
