import { OAuthError } from '../errors/oauth-error.ts'
import { pathOf } from '../parse-url.ts'

/** Characters of a path below that of an endpoint. */
const maxLength = 2000

const unknown = (): OAuthError =>
  new OAuthError('invalid_request', 'There is no such resource', { reason: 'path_unknown', status: 404 })

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
const unusable = /^\.{0,2}$|[\0-\x1F\x7F]/u

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw unknown()
  }
}

/**
 * Creates the function that returns the decoded segments of the path of a URL below `base`. An encoded slash is part of its
 * segment. Each resource has one path: a slash at the end, two slashes, and dot segments lead to none, however they are
 * encoded.
 *
 * @param base the path of the endpoint
 * @throws OAuthError 404, also for a malformed encoding
 */
export const createSegmentsOf =
  (base = ''): ((url: string) => readonly string[]) =>
  (url) => {
    const path = pathOf(url)
    if (path === base) return []
    if (!path.startsWith(`${base}/`) || path.length - base.length > maxLength) throw unknown()
    const encoded = path.slice(base.length + 1).split('/')
    const segments = encoded.map(decode)
    if (segments.some((segment) => unusable.test(segment))) throw unknown()
    return segments
  }
