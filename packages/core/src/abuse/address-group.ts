import type { Recorder, Trace } from '../events/recorder.ts'

/** Splits one side of `::` into 16-bit groups; a dotted IPv4 part becomes two groups. */
const groupsOf = (side: string): readonly string[] =>
  side === ''
    ? []
    : side.split(':').flatMap((group) => {
        const bytes = group.split('.').map(Number)
        if (bytes.length !== 4) return [group]
        const [a = 0, b = 0, c = 0, d = 0] = bytes
        return [(a * 256 + b).toString(16), (c * 256 + d).toString(16)]
      })

/** Parses an IPv6 address to eight groups; returns `undefined` if it is not one. */
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

const dotted = (high: number, low: number): string => [high >> 8, high & 255, low >> 8, low & 255].join('.')

/**
 * Returns the IPv4 address that an IPv6 address represents (mapped, translated, tunneled); `undefined` if it represents
 * none.
 */
function embeddedIpv4(groups: readonly number[]): string | undefined {
  const startsWith = (...prefix: readonly number[]): boolean => prefix.every((group, at) => groups[at] === group)
  const [, second = 0, third = 0] = groups
  const [high = 0, low = 0] = groups.slice(6)
  const isAtTheEnd =
    // IPv4-mapped: RFC 4291 section 2.5.5.2.
    startsWith(0, 0, 0, 0, 0, 0xffff) ||
    // IPv4-translated: RFC 2765 section 2.1.
    startsWith(0, 0, 0, 0, 0xffff, 0) ||
    // The well-known prefix of translators: RFC 6052 section 2.1.
    startsWith(0x64, 0xff9b, 0, 0, 0, 0)
  if (isAtTheEnd) return dotted(high, low)
  // Local-use prefixes: RFC 8215. Prefixes shorter than 96 bits end with zeros (RFC 6052 section 2.2); then the whole
  // address counts as one caller.
  if (startsWith(0x64, 0xff9b, 1)) {
    return (high & 255) === 0 && low === 0 ? groups.map((group) => group.toString(16)).join(':') : dotted(high, low)
  }
  // 6to4: RFC 3056 section 2. One IPv4 address has 65,536 IPv6 networks.
  if (startsWith(0x2002)) return dotted(second, third)
  // Teredo: RFC 4380 section 4. All clients of a server share a network; the inverted address of the client is at the
  // end.
  if (startsWith(0x2001, 0)) return dotted(high ^ 0xffff, low ^ 0xffff)
  return undefined
}

/** An upper bound for the length of an address. */
const maxLength = 64

const digitsAndDots = /^[\d.]{1,64}$/u

/** Returns a string for an address that is a group of its own, and the first four groups of any other IPv6 address. */
function parsed(address: string): string | readonly string[] {
  // The usual address, for which the rest changes nothing.
  if (digitsAndDots.test(address)) return address
  const plain = address.slice(0, maxLength).toLowerCase().replace(/%.*$/u, '')
  const groups = plain.includes(':') ? parseIpv6(plain) : undefined
  if (groups === undefined) return plain
  return embeddedIpv4(groups) ?? groups.slice(0, 4).map((group) => group.toString(16))
}

/**
 * Returns the group in which the requests of an address are counted. An IPv4 address is its own group, as is an IPv6
 * address that represents an IPv4 address (mapped, translated, tunneled). Other IPv6 addresses are grouped by their
 * first 64 bits, because a single customer controls all addresses of such a network (RFC 6177, RFC 4291 section 2.5.4).
 * Any other string is its own group.
 *
 * @example
 * addressGroupOf('2001:db8:0:1:aaaa::1') // '2001:db8:0:1::/64'
 * addressGroupOf('64:ff9b::192.0.2.1') // '192.0.2.1'
 */
export function addressGroupOf(address: string): string {
  const counted = parsed(address)
  return typeof counted === 'string' ? counted : `${counted.join(':')}::/64`
}

/**
 * Returns the site of an address, for limits that are shared between sites: an IPv4 address, or a 48-bit IPv6 network,
 * the largest network of one site (RFC 6177 section 2). With 64 bits, one site would be 65,536 sources.
 *
 * @example
 * siteOf('2001:db8:0:1:aaaa::1') // '2001:db8:0::/48'
 */
export function siteOf(address: string): string {
  const counted = parsed(address)
  return typeof counted === 'string' ? counted : `${counted.slice(0, 3).join(':')}::/48`
}

/** Returns the address group of a request, if the adapter reports the client address. */
export type AddressOf = (trace: Trace) => string | undefined

/**
 * Creates a function that returns the address group of a request, and warns once if the adapter does not report the
 * client address. Without an address there is no limit: with a limit for all callers together, an attacker could lock
 * everyone out.
 */
export function createAddressOf(recorder: Recorder): AddressOf {
  let warned = false
  return (trace) => {
    if (trace.clientAddress !== undefined) return addressGroupOf(trace.clientAddress)
    if (!warned) {
      recorder.record(trace, {
        type: 'startup_warning',
        reason: 'client_address_unknown',
        message:
          'abuseControl limits only passwords, because the client address is unknown: pass { clientAddress } to the handler as the second argument',
      })
    }
    warned = true
    return undefined
  }
}
