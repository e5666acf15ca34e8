import { isIPv4 } from 'node:net'

/** Whether an address is one of this machine that nobody else has; IPv4 also as a socket for IPv6 tells it. */
export function isLoopbackAddress(address = ''): boolean {
  const plain = address.replace(/^::ffff:/u, '')
  return address === '::1' || (isIPv4(plain) && plain.startsWith('127.'))
}

const proxyHeaders = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip']

/** Whether a proxy says that it passes the request on: one on this machine makes every stranger look local. */
export const isForwarded = ({ headers }: Request): boolean => proxyHeaders.some((name) => headers.has(name))
