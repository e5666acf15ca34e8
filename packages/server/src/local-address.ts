import { isLocalhostUrl, isLoopbackHost } from '@grantry/core'

/** Whether the host of a URL is an IP address. */
export const isAddress = (url: string): boolean => /^(?:\[.*\]|[\d.]+)$/u.test(new URL(url).hostname)

/** Returns a host as written in a URL: IPv6 addresses get brackets. */
export const urlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host)

/** Returns the port of a loopback URL, explicit or the default of its scheme; `undefined` for any other host. */
export function localPort(url: string): number | undefined {
  const { port, protocol } = new URL(url)
  if (!isLocalhostUrl(url)) return undefined
  return Number(port || (protocol === 'https:' ? 443 : 80))
}

/** Returns the URL to open on this machine. A wildcard address such as `0.0.0.0` becomes loopback. */
export function localOrigin(host: string, port: number, isSecure = false): string {
  const local = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `${isSecure ? 'https' : 'http'}://${urlHost(local)}:${port}`
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

/**
 * Whether a `Host` header names this machine. With DNS rebinding, an attacker's page points its own host name at this machine,
 * so its requests come from loopback, but with another `Host`. The same is true for a local proxy that passes it on.
 */
export const isLoopbackHeader = (host: string | null): boolean => isLoopbackHost(parseHost(host)?.hostname)
