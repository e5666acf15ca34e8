import { parseUrl } from '../parse-url.ts'

/** Characters of one URI. */
const longest = 200
/** URIs of one list. */
const most = 5
/** Characters of one path segment. A longer one can be a token. */
const longestSegment = 40

const shortened = (text: string, limit: number): string => (text.length > limit ? `${text.slice(0, limit)}…` : text)

/**
 * Returns a URI as an event may contain it: scheme, host, port and path. A query, a fragment, a user, a long segment
 * and the parameters of a segment can be secrets, and are replaced with `…`.
 */
export function shownUri(uri: string): string {
  const url = parseUrl(uri)
  // Other schemes, such as `data:`, have content instead of a path.
  const [, scheme = '', authority = '', path = ''] = /^([a-z][a-z\d+.-]*:)(\/\/[^/?#]+)?([^?#]*)/iu.exec(uri) ?? []
  if (url === undefined || scheme === '') return '(not an absolute URI)'
  // The parser of URLs finds the user and password of `https:user:password@host`, too.
  const isReadable = /^https?:$/iu.test(scheme)
    ? authority !== ''
    : scheme.includes('.') && /^\//u.test(authority + path)
  if (!isReadable) return shortened(`${scheme}…`, longest)
  const host = authority.replace(/^\/\/.*@/u, '//…@')
  const segments = path
    .split('/')
    .map((segment) => (segment.length > longestSegment ? '…' : segment.replace(/;.*$/u, ';…')))
  const rest = `${url.search === '' && !uri.includes('?') ? '' : '?…'}${uri.includes('#') ? '#…' : ''}`
  return `${shortened(`${scheme}${host}${segments.join('/')}`, longest)}${rest}`
}

/**
 * Describes a redirect URI that is not registered, as the `detail` of an event: what the client sent, and what it has
 * registered. Contains no secret.
 *
 * @param known what the list of URIs is
 */
export function redirectUriDetail(sent: string, registered: readonly string[], known = 'registered'): string {
  const listed = registered.slice(0, most).map(shownUri)
  const more = registered.length > most ? `, and ${registered.length - most} more` : ''
  const list = listed.length === 0 ? 'none is registered' : `${known}: ${listed.join(', ')}${more}`
  // What differs is hidden, so that it is named.
  const hidden = listed.includes(shownUri(sent)) ? '; they differ in what is not shown' : ''
  return `sent: ${shownUri(sent)}; ${list}${hidden}`
}
