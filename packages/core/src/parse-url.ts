/**
 * Returns the URL, or `undefined` if the text is not a URL. Does not use `URL.canParse`, which rejects URLs with
 * letters such as `ü` on Node 20 as soon as V8 has optimized its caller.
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
