import { OAuthError } from './errors/oauth-error.ts'

/**
 * Returns the URL, or `undefined` if the text is none. Instead of `URL.canParse`, which rejects URLs with letters such
 * as `ü` on Node 20 as soon as V8 has optimized its caller.
 */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

/** Returns the path of an absolute URL. Cheaper than `new URL()`. */
export function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('//') + 2)
  if (start < 0) return '/'
  const query = url.indexOf('?', start)
  const fragment = url.indexOf('#', start)
  if (query < 0) return fragment < 0 ? url.slice(start) : url.slice(start, fragment)
  return url.slice(start, fragment < 0 ? query : Math.min(query, fragment))
}

/** Whether this text can be the path of an endpoint. */
export const isPath = (path: unknown): path is `/${string}` =>
  typeof path === 'string' &&
  /^\/[\w\-.~/]*[\w\-.~]$/u.test(path) &&
  !path.split('/').some((segment) => segment === '.' || segment === '..')

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
