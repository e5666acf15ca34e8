import { isIPv4 } from 'node:net'

/** Whether an address is a loopback address, including IPv4-mapped IPv6 (`::ffff:127.0.0.1`). */
export function isLoopbackAddress(address = ''): boolean {
  const plain = address.replace(/^::ffff:/u, '')
  return address === '::1' || (isIPv4(plain) && plain.startsWith('127.'))
}

const proxyHeaders = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip']

/** Whether a proxy forwarded the request. A proxy on this machine makes every remote caller look local. */
export const isForwarded = ({ headers }: Request): boolean => proxyHeaders.some((name) => headers.has(name))

/** Parses a `Host` header as a URL, which normalizes name and port like a browser; `undefined` if it is not a host. */
export function parseHost(host: string | null): URL | undefined {
  // Only a name and a port: the URL parser finds another host in `a@b` and `a/b`.
  if (host === null || !/^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/iu.test(host)) return undefined
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : undefined
}
