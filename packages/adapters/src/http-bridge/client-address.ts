import { isIP } from 'node:net'

/** Converts an IPv4-mapped IPv6 address to IPv4. A server that listens on `::` then sees the same addresses. */
export const unmapped = (address: string): string =>
  address.includes(':') ? address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/iu, '') : address

/** Removes the port that some proxies append. */
const withoutPort = (hop: string): string =>
  /^\[([^[\]]+)\](?::\d{1,5})?$/u.exec(hop)?.[1] ?? /^([^:]+):\d{1,5}$/u.exec(hop)?.[1] ?? hop

/**
 * Returns the client's address. Each proxy appends the address it saw to `X-Forwarded-For`, so only the rightmost
 * `trustedProxies` entries are reliable; entries further left may come from the client itself.
 */
export function clientAddress(
  socketAddress: string | undefined,
  forwardedFor: string | undefined,
  trustedProxies: number,
): string | undefined {
  const peer = socketAddress === undefined || socketAddress === '' ? undefined : unmapped(socketAddress)
  if (trustedProxies === 0 || forwardedFor === undefined) return peer
  const hops = forwardedFor.split(',').map((hop) => unmapped(withoutPort(hop.trim())))
  const seen = hops[Math.max(0, hops.length - trustedProxies)] ?? ''
  return isIP(seen) === 0 ? peer : seen
}
