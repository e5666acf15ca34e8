// The comparison of `htu` with the URL of the request (RFC 9449 section 4.3, check 9).

const percent = /%[\dA-Fa-f]{2}/gu
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
  return origin === 'null' ? undefined : origin + normalPath(pathname)
}

/** Returns the URL that clients use for a request: the path is appended to the public URL of the API. */
export const publicTarget = (baseUrl: string, requestUrl: string): string | undefined =>
  URL.canParse(requestUrl) ? targetOf(baseUrl.replace(/\/$/u, '') + new URL(requestUrl).pathname) : undefined
