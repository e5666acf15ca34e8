// Whatever resolves `localhost` and what is below it must give a loopback address (RFC 6761 section 6.3).
const loopbackHost = /^(?:127(?:\.\d{1,3}){3}|\[::1\]|(?:[^.]+\.)*localhost)$/u

/** Whether requests for this URL travel unencrypted to another machine: `http` and not a loopback host. */
export function isUnencrypted(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && !loopbackHost.test(hostname)
}
