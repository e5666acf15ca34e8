const loopbackNames: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '::1'])

/** Whether a host, also as a URL has it, is this machine, and nobody else reaches it under this name. */
export const isLoopbackName = (host: string): boolean => loopbackNames.has(host.replace(/^\[|\]$/gu, ''))

/** A host as a URL has it. */
export const urlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host)

/** Whether a URL names this machine; and the port that it names, said or not. */
export function localPort(url: string): number | undefined {
  const { hostname, port, protocol } = new URL(url)
  if (!isLoopbackName(hostname)) return undefined
  return Number(port || (protocol === 'https:' ? 443 : 80))
}

/** Where this machine finds itself: an address that stands for all is none to open. */
export function localOrigin(host: string, port: number): string {
  const own = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${urlHost(own)}:${port}`
}
