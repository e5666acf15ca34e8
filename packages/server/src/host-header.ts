/** Parses a `Host` header as a URL, which normalizes name and port like a browser; `undefined` if it is not a host. */
export function parseHost(host: string | null): URL | undefined {
  // Only a name and a port: the URL parser finds another host in `a@b` and `a/b`.
  if (host === null || !/^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/iu.test(host)) return undefined
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : undefined
}
