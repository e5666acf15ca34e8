import { parseUrl } from './parse-url.ts'

// The rules about "this machine", and why they differ:
//
// * `isLoopbackHost()` permits what only this machine may do, such as sending a password without TLS. It accepts only
//   names and addresses that all resolvers take for this machine. `a.localhost` and `localhost.` are not among them: Linux
//   sends them to DNS.
// * `isLocalhostUrl()` permits issuers without TLS, which clients and browsers open. RFC 6761 section 6.3 gives them all
//   names below `localhost`, and tenants need some.
// * `isLoopbackRedirect()`, in directory/redirect-uri.ts, compares text: three hosts, exactly as they are written (RFC 8252
//   section 7.3).
// * `isPublicAddress()`, in plugins/shared, forbids. So it covers much more, such as `0.0.0.0` and private networks.

// Without `i`: with `u`, it takes U+017F for an s.
const hostForm = /^(?:[\w.-]+|\[[\dA-Fa-f:.]+\])$/u
// As the parser of URLs writes them: `127.1` and `0x7f000001` become `127.0.0.1`, and mapped addresses become hexadecimal.
const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::(?:1|ffff:7f[\da-f]{2}:[\da-f]{1,4})\])$/u

/**
 * Whether a host, with or without the brackets of a URL, is this machine for every resolver: a loopback address in any
 * form, also an IPv4-mapped one, or `localhost` in any case.
 */
export function isLoopbackHost(host = ''): boolean {
  const written = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
  return hostForm.test(written) && loopback.test(parseUrl(`http://${written}`)?.hostname ?? '')
}

/** Whether a program that opens this URL stays on this machine: at a loopback host, or a name below `localhost`. */
export function isLocalhostUrl(url: string): boolean {
  const { hostname = '' } = parseUrl(url) ?? {}
  return isLoopbackHost(hostname) || /^(?:[^.]+\.)+localhost$/u.test(hostname)
}
