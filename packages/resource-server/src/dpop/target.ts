// The comparison of `htu` with the URL of the request (RFC 9449 section 4.3, check 9).

const percent = /%[\dA-Fa-f]{2}/gu
/** Such as `%%41`: to decode only a part of it could result in another escape. */
const malformedEscape = /%(?![\dA-Fa-f]{2})/u
const unreserved = /[\w.~-]/u

/** RFC 3986 section 6.2.2: escapes in capitals, and none for characters that need none. */
const normalPath = (path: string): string =>
  path.replace(percent, (escaped) => {
    const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16))
    return unreserved.test(character) ? character : escaped.toUpperCase()
  })

/** Returns a URI without query and fragment, normalized (RFC 3986 sections 6.2.2 and 6.2.3). */
export function targetOf(uri: string): string | undefined {
  if (!URL.canParse(uri)) return undefined
  const { origin, pathname } = new URL(uri)
  return origin === 'null' || malformedEscape.test(pathname) ? undefined : origin + normalPath(pathname)
}

/** The URLs with a host, and a path of printable ASCII without backslashes. */
const requestForm = /^https?:\/\/(?:[\w.-]+|\[[\dA-Fa-f:.]+\])(?::\d+)?(?:(\/[!"$->@-[\]-~]*)(?:[?#]|$)|$)/u

const dotSegment = /\/(?:\.|%2[Ee]){1,2}(?:\/|$)/u

/**
 * Returns the path of a request as it was sent. Returns `undefined` if a router could find another path in the URL than
 * the URL parser: then a proof for the one would be accepted for the other.
 */
function pathOf(requestUrl: string): string | undefined {
  const match = requestForm.exec(requestUrl)
  const path = match?.[1] ?? '/'
  return match === null || dotSegment.test(path) ? undefined : path
}

/** Returns the URL that clients use for a request: the path is appended to the public URL of the API. */
export function publicTarget(baseUrl: string, requestUrl: string): string | undefined {
  const path = pathOf(requestUrl)
  const { origin, pathname } = new URL(baseUrl)
  return path === undefined ? undefined : targetOf(origin + pathname.replace(/\/$/u, '') + path)
}
