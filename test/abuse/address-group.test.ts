import { expect, test } from 'vitest'
import { addressGroupOf } from '../../packages/core/src/abuse/address-group.ts'

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:C000:201', '192.0.2.1'],
  ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
  // RFC 2765 section 2.1: IPv4-translated.
  ['::ffff:0:192.0.2.1', '192.0.2.1'],
  // RFC 6052 section 2.1: the well-known prefix of translators.
  ['64:ff9b::192.0.2.1', '192.0.2.1'],
  ['64:FF9B:0:0:0:0:C000:0201', '192.0.2.1'],
  ['0064:ff9b::c000:201', '192.0.2.1'],
  // RFC 8215: local use. The operator chooses the length; only with 96 bits is the IPv4 address at the end.
  ['64:ff9b:1::192.0.2.1', '192.0.2.1'],
  ['64:ff9b:1:abcd::192.0.2.1', '192.0.2.1'],
  ['64:ff9b:1:c000:2:100::', '64:ff9b:1:c000:2:100:0:0'],
  ['64:ff9b:1:c000:2:200::', '64:ff9b:1:c000:2:200:0:0'],
  ['64:ff9b:1:aa:c0:2:100:0', '64:ff9b:1:aa:c0:2:100:0'],
  // RFC 3056: 6to4. The holder of the IPv4 address has 65,536 networks.
  ['2002:c000:201::1', '192.0.2.1'],
  ['2002:c000:201:ffff:1:2:3:4', '192.0.2.1'],
  // RFC 4380 section 4: Teredo. The network is that of the server, which many share; the client is at the end,
  // inverted.
  ['2001:0:4136:e378:8000:63bf:3fff:fdfe', '192.0.2.1'],
  // Neighbours of these prefixes.
  ['64:ff9b::1:c000:201', '64:ff9b:0:0::/64'],
  ['64:ff9b:2::192.0.2.1', '64:ff9b:2:0::/64'],
  ['64:ff9b:0:1::192.0.2.1', '64:ff9b:0:1::/64'],
  ['::1:ffff:0:192.0.2.1', '0:0:0:1::/64'],
  ['2001:1:4136:e378:8000:63bf:3fff:fdfe', '2001:1:4136:e378::/64'],
  ['2003:c000:201::1', '2003:c000:201:0::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::6', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002:0000::', '2001:db8:1:2::/64'],
  ['2001:db8::1:2:3:4:5', '2001:db8:0:1::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['fe80::1%eth1', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  // Not an address: the host uses its own names, which are no longer than an address.
  ['2001:db8::1::2', '2001:db8::1::2'],
  ['1:2:3', '1:2:3'],
  ['1:2:3:4:5:6:7:8:9', '1:2:3:4:5:6:7:8:9'],
  ['unix:', 'unix:'],
  ['x'.repeat(1000), 'x'.repeat(64)],
])('%s counts as %s', (address, group) => {
  expect(addressGroupOf(address)).toBe(group)
})
