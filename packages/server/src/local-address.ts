import { isIPv4 } from 'node:net'

const loopbackNames: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '::1'])

/** Whether a host, with or without the brackets of a URL, is a loopback name or address. */
export const isLoopbackName = (host: string): boolean => loopbackNames.has(host.replace(/^\[|\]$/gu, ''))

/** Whether the host of a URL is an IP address. */
export const isAddress = (url: string): boolean => /^(?:\[.*\]|[\d.]+)$/u.test(new URL(url).hostname)

/** Returns a host as written in a URL: IPv6 addresses get brackets. */
export const urlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host)

/** Returns the port of a loopback URL, explicit or the default of its scheme; `undefined` for any other host. */
export function localPort(url: string): number | undefined {
  const { hostname, port, protocol } = new URL(url)
  if (!isLoopbackName(hostname)) return undefined
  return Number(port || (protocol === 'https:' ? 443 : 80))
}

/** Returns the URL to open on this machine. A wildcard address such as `0.0.0.0` becomes loopback. */
export function localOrigin(host: string, port: number, isSecure = false): string {
  const own = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `${isSecure ? 'https' : 'http'}://${urlHost(own)}:${port}`
}

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
