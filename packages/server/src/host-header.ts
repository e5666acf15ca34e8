/** The value of a `Host` header as a URL, which gives name and port as a browser compares them; `undefined` for what is no host. */
export function parseHost(host: string | null): URL | undefined {
  // Only a name and a port: `a@b` or `a/b` would name another host.
  if (host === null || !/^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/iu.test(host)) return undefined
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : undefined
}
