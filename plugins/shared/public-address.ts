import { octetsOf } from './ip-octets.ts'

/** A network: its address, and the number of its leading bits. */
type Network = readonly [address: string, bits: number]

const networkOf = ([address, bits]: Network) => ({ octets: octetsOf(address) ?? [], bits })

/** Networks that are not public: the special-purpose registry of IANA for IPv4 (RFC 6890), and two that clouds use. */
const privateIpv4 = (
  [
    ['0.0.0.0', 8],
    ['10.0.0.0', 8],
    // Carrier-grade NAT (RFC 6598), and the metadata service of Alibaba Cloud.
    ['100.64.0.0', 10],
    ['127.0.0.0', 8],
    // The host of virtual machines of Azure, which does not leave it.
    ['168.63.129.16', 32],
    ['169.254.0.0', 16],
    ['172.16.0.0', 12],
    // Protocol assignments, and the metadata service of Oracle Cloud.
    ['192.0.0.0', 24],
    ['192.0.2.0', 24],
    // Relays of 6to4, which are gone (RFC 7526).
    ['192.88.99.0', 24],
    ['192.168.0.0', 16],
    ['198.18.0.0', 15],
    ['198.51.100.0', 24],
    ['203.0.113.0', 24],
    // Multicast, reserved addresses, and the broadcast.
    ['224.0.0.0', 3],
  ] satisfies readonly Network[]
).map(networkOf)

/** The only public space of IPv6 (RFC 4291 section 2.4): loopback, unique local, link-local and multicast are outside. */
const globalIpv6 = networkOf(['2000::', 3])

/** The networks in it that are not public. */
const privateIpv6 = (
  [
    // Protocol assignments: Teredo, benchmarking, ORCHID.
    ['2001::', 23],
    // Documentation.
    ['2001:db8::', 32],
    ['3fff::', 20],
    // 6to4, whose routers would reach any IPv4 address.
    ['2002::', 16],
  ] satisfies readonly Network[]
).map(networkOf)

/** Networks whose last 32 bits are an IPv4 address: mapped ones (RFC 4291), and those of translators (RFC 6052). */
const embedding = (
  [
    ['::ffff:0:0', 96],
    ['64:ff9b::', 96],
  ] satisfies readonly Network[]
).map(networkOf)

function isIn(address: readonly number[], { octets, bits }: ReturnType<typeof networkOf>): boolean {
  return octets.every((octet, index) => {
    const left = Math.min(8, Math.max(0, bits - 8 * index))
    return (octet ^ (address[index] ?? 0)) >> (8 - left) === 0
  })
}

/** Whether a text is an IP address of the public internet. `false` for a text that is no address. */
export function isPublicAddress(address: string): boolean {
  const octets = octetsOf(address)
  if (octets === undefined) return false
  if (octets.length === 4) return !privateIpv4.some((network) => isIn(octets, network))
  if (embedding.some((network) => isIn(octets, network))) return isPublicAddress(octets.slice(12).join('.'))
  return isIn(octets, globalIpv6) && !privateIpv6.some((network) => isIn(octets, network))
}
