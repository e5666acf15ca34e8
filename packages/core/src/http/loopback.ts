// `localhost` and its subdomains must resolve to a loopback address (RFC 6761 section 6.3).
const loopbackHost = /^(?:127(?:\.\d{1,3}){3}|\[::1\]|(?:[^.]+\.)*localhost)$/u

/** Whether requests to this URL leave the machine unencrypted: `http` and not a loopback host. */
export function isUnencrypted(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && !loopbackHost.test(hostname)
}
