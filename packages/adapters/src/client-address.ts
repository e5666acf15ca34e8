import { isIP } from 'node:net'

/** IPv4 addresses look the same whether the server listens on `0.0.0.0` or on `::`. */
const unmapped = (address: string): string =>
  address.includes(':') ? address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/iu, '') : address

/** Without the port that some proxies add to it. */
const withoutPort = (hop: string): string =>
  /^\[([^[\]]+)\](?::\d{1,5})?$/u.exec(hop)?.[1] ?? /^([^:]+):\d{1,5}$/u.exec(hop)?.[1] ?? hop

/**
 * The caller's address behind so many proxies of ours. Each proxy appends the address it saw to `X-Forwarded-For`, so only hops counted
 * from the right can be believed; what a caller wrote itself stands further left.
 */
export function clientAddress(
  socketAddress: string | undefined,
  forwardedFor: string | undefined,
  trustedProxies: number,
): string | undefined {
  const own = socketAddress === undefined || socketAddress === '' ? undefined : unmapped(socketAddress)
  if (trustedProxies === 0 || forwardedFor === undefined) return own
  const hops = forwardedFor.split(',').map((hop) => unmapped(withoutPort(hop.trim())))
  const seen = hops[Math.max(0, hops.length - trustedProxies)] ?? ''
  return isIP(seen) === 0 ? own : seen
}
