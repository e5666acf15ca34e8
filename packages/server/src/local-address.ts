const loopbackNames: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '::1'])

/** Whether a host, with or without the brackets of a URL, is a loopback name or address. */
export const isLoopbackName = (host: string): boolean => loopbackNames.has(host.replace(/^\[|\]$/gu, ''))

/** Returns a host as written in a URL: IPv6 addresses get brackets. */
export const urlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host)

/** Returns the port of a loopback URL, explicit or the default of its scheme; `undefined` for any other host. */
export function localPort(url: string): number | undefined {
  const { hostname, port, protocol } = new URL(url)
  if (!isLoopbackName(hostname)) return undefined
  return Number(port || (protocol === 'https:' ? 443 : 80))
}

/** Returns the URL to open on this machine. A wildcard address such as `0.0.0.0` becomes loopback. */
export function localOrigin(host: string, port: number): string {
  const own = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${urlHost(own)}:${port}`
}
