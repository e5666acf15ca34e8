import { isIPv4 } from 'node:net'

/** Whether an address is a loopback address, including IPv4-mapped IPv6 (`::ffff:127.0.0.1`). */
export function isLoopbackAddress(address = ''): boolean {
  const plain = address.replace(/^::ffff:/u, '')
  return address === '::1' || (isIPv4(plain) && plain.startsWith('127.'))
}

const proxyHeaders = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip']

/** Whether a proxy forwarded the request. A proxy on this machine makes every remote caller look local. */
export const isForwarded = ({ headers }: Request): boolean => proxyHeaders.some((name) => headers.has(name))
