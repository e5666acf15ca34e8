/** The 16-bit groups of one side of `::`; a dotted IPv4 part stands for two. */
const groupsOf = (side: string): readonly string[] =>
  side === ''
    ? []
    : side.split(':').flatMap((group) => {
        const bytes = group.split('.').map(Number)
        if (bytes.length !== 4) return [group]
        const [a = 0, b = 0, c = 0, d = 0] = bytes
        return [(a * 256 + b).toString(16), (c * 256 + d).toString(16)]
      })

/** The eight groups of an IPv6 address as numbers, or `undefined` when it is none. */
function parseIpv6(address: string): readonly number[] | undefined {
  const sides = address.split('::')
  if (sides.length > 2) return undefined
  const [head, tail] = [groupsOf(sides[0] ?? ''), groupsOf(sides[1] ?? '')]
  const left = 8 - head.length - tail.length
  if (sides.length === 2 ? left < 1 : left !== 0) return undefined
  const groups = [...head, ...Array.from({ length: left }, () => '0'), ...tail]
  return groups.every((group) => /^[0-9a-f]{1,4}$/u.test(group))
    ? groups.map((group) => Number.parseInt(group, 16))
    : undefined
}

/** Longer than any address. */
const longest = 64

/**
 * Whose requests count together: an IPv4 address, also written as IPv6, alone; IPv6 addresses by their first 64 bits, all of which any one customer of a
 * provider has (RFC 6177, RFC 4291 section 2.5.4). What is no address is one of its own.
 *
 * @example
 * addressGroupOf('2001:db8:0:1:aaaa::1') // '2001:db8:0:1::/64'
 */
export function addressGroupOf(address: string): string {
  const plain = address.slice(0, longest).toLowerCase().replace(/%.*$/u, '')
  const groups = plain.includes(':') ? parseIpv6(plain) : undefined
  if (groups === undefined) return plain
  const [high = 0, low = 0] = groups.slice(6)
  // RFC 4291 section 2.5.5.2: IPv4-mapped.
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    return [high >> 8, high & 255, low >> 8, low & 255].join('.')
  }
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}
