import * as v from 'valibot'
import { parseUrl } from '../parse-url.ts'

const longest = 2000

const form =
  'must be an http or https URL, or have a private-use scheme such as com.example.app:/callback (RFC 8252 section 7.1) or app://callback'

// The URL parser drops white space and control characters, and reads a backslash as a slash. A URI contains none of
// them (RFC 3986 section 2).
const strayCharacters = /[\s\\\p{Cc}]/u

// Schemes without a dot need two slashes, which most schemes that a system or a browser handles itself do not have.
const allowedForm = /^(?:https?:\/\/|[a-z][a-z\d+-]*\.[a-z\d+.-]*:|[a-z][a-z\d+-]*:\/\/)/iu

/**
 * Schemes that browsers and systems handle themselves, also in the form of a URL: they run code, read files, start
 * programs, or send a code to another service.
 */
const foreignScheme = new RegExp(
  `^(?:${[
    ...[
      'about',
      'afp',
      'android-app',
      'applescript',
      'blob',
      'brave',
      'chrome(?:-[a-z]+)*',
      'cid',
      'cifs',
      'content',
      'data',
      'davs?',
      'devtools',
      'edge',
      'feed',
      'file',
      'filesystem',
      'firefox(?:-[a-z-]+)?',
    ],
    ...[
      'ftps?',
      'geo',
      'git',
      'googlechromes?(?:-[a-z-]+)?',
      'gopher',
      'hcp',
      'help',
      'intent',
      'irc',
      'itms(?:-[a-z-]+)?',
      'jar',
      'javascript',
      'jnlp',
      'ldaps?',
      'livescript',
      'magnet',
    ],
    ...[
      'mailto',
      'market',
      'mhtml',
      'microsoft-edge(?:-[a-z-]+)?',
      'mid',
      'mk',
      'mocha',
      'moz-[a-z-]+',
      'ms(?:-[a-z-]+)?',
      'news',
      'nfs',
      'nntp',
      'rdp',
      'res',
      'resource',
    ],
    ...[
      'rtsp',
      'safari(?:-[a-z-]+)?',
      'search(?:-ms)?',
      'sftp',
      'shell',
      'sips?',
      'smb',
      'sms',
      'ssh',
      'steam',
      'svn',
      'tel',
      'telnet',
    ],
    ...['urn', 'vbscript', 'view-source', 'vnc', 'webcal', 'wss?', 'wyciwyg', 'x-[a-z.-]+', 'xmpp'],
  ].join('|')}):`,
  'iu',
)

const isAllowed = (uri: string): boolean => allowedForm.test(uri) && !foreignScheme.test(uri)

/** Whether applications can have this scheme, such as `cursor:` or `com.example.app:`. */
export const isPrivateUseScheme = (scheme: string): boolean =>
  /^[a-z][a-z\d+.-]*:$/u.test(scheme) && !/^https?:$/u.test(scheme) && !foreignScheme.test(scheme)

/**
 * Returns why a client cannot register this redirect URI, or `undefined` if it can.
 *
 * @see RFC 6749 section 3.1.2, RFC 8252 section 7.1, RFC 9700 section 2.1
 */
export function redirectUriProblem(uri: string): string | undefined {
  const url = uri.length > longest ? undefined : parseUrl(uri)
  if (url === undefined || uri.includes('#')) {
    return 'must be an absolute URI such as https://app.example.com/callback, of at most 2000 characters without a fragment'
  }
  if (strayCharacters.test(uri)) return 'must not contain white space, control characters or backslashes'
  // `http://localhost:x@evil.example` is not on this machine, and no response redirects there: `isLocation()`.
  if (url.username !== '' || url.password !== '') return 'must not contain a user'
  return isAllowed(uri) ? undefined : form
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
  if (!locationForm.test(uri) || uri.includes('\\') || !isAllowed(uri)) return false
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
const loopback = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::([1-9]\d{0,4}))?((?:[/?].*)?)$/u

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

/** Whether a redirect URI leads to a program on the machine of the user, at any port. */
export const isLoopbackRedirect = (uri: string): boolean => loopbackOf(uri) !== undefined

/**
 * Whether the client has registered this redirect URI. Compares character by character, except for the port of
 * `http://127.0.0.1`, `http://[::1]` and `http://localhost`: native applications listen on an ephemeral port. RFC 8252
 * section 8.3 discourages `localhost`, which depends on name resolution, but many register it.
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
