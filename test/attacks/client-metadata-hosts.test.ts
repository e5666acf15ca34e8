/**
 * Attack: the URL of a client names a host whose addresses are inside the provider's network, so that the provider calls
 * services that the attacker cannot reach. The names are asked for once, where the socket connects, and one address that
 * is not public refuses the host.
 */
import dns from 'node:dns'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { createHosts, setUp } from '../client-metadata/parties.ts'

let connections = 0
const inside = createServer((socket) => {
  connections += 1
  socket.destroy()
})
beforeAll(() => new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve)))
afterAll(() => void inside.close())
afterEach(() => void vi.restoreAllMocks())

const portOf = () => (inside.address() as AddressInfo).port

/** The addresses of every name, of both families. */
function names(ipv4: readonly string[], ipv6: readonly string[]) {
  const { prototype } = dns.promises.Resolver
  vi.spyOn(prototype, 'resolve6').mockResolvedValue([...ipv6])
  return vi.spyOn(prototype, 'resolve4').mockResolvedValue([...ipv4] as never)
}

/** Requests a sign-in of the client, without a `fetch` of the host. */
async function ask(client_id: string) {
  const f = await setUp(createHosts(), { fetch: undefined })
  const { status, html } = await f.authorize({ client_id })
  return { status, html, reasons: f.failures() }
}

describe('a client whose host has', () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ['a loopback address', ['127.0.0.1'], []],
    ['a loopback address of IPv6', [], ['::1']],
    ['the address of no host', ['0.0.0.0'], []],
    ['the address of no host of IPv6', [], ['::']],
    ['a link-local address, as metadata services of clouds', ['169.254.169.254'], []],
    ['a link-local address of IPv6', [], ['fe80::1']],
    ['a private address', ['10.0.0.1'], []],
    ['a unique local address', [], ['fd00:ec2::254']],
    ['a mapped address', [], ['::ffff:127.0.0.1']],
    ['a mapped address in hexadecimal', [], ['::ffff:7f00:1']],
    ['an address behind NAT64', [], ['64:ff9b::7f00:1']],
    ['a private address after a public one', ['93.184.215.14', '127.0.0.1'], []],
    ['a private address in the other family', ['93.184.215.14'], ['::1']],
  ])('%s is refused, and nothing is sent', async (_name, ipv4, ipv6) => {
    const lookUps = names(ipv4, ipv6)
    const { status, html, reasons } = await ask(`https://inside.example.com:${portOf()}/client.json`)
    expect([status, reasons]).toEqual([expect.any(Number), ['plugin:client-metadata:document_unreachable']])
    expect(status).toBeGreaterThanOrEqual(400)
    for (const address of [...ipv4, ...ipv6]) expect(html).not.toContain(address)
    // There is no time between a check and the connection in which the name could change.
    expect([connections, lookUps.mock.calls.length]).toEqual([0, 1])
  })
})

describe('a client at an address, without a name,', () => {
  test.each(['127.0.0.1', '0.0.0.0', '169.254.169.254', '10.0.0.1', '[::1]', '[::ffff:7f00:1]', '[fe80::1]', '[::]'])(
    '%s is refused without a look-up',
    async (host) => {
      const lookUps = names([], [])
      const { status, reasons } = await ask(`https://${host}:${portOf()}/client.json`)
      expect([status, reasons]).toEqual([400, ['plugin:client-metadata:url_refused']])
      expect([connections, lookUps.mock.calls.length]).toEqual([0, 0])
    },
  )

  // Spellings that only some parsers read as an address.
  test.each(['2130706433', '0x7f.1', '0177.0.0.1', '127.1', '127.0.0.1.'])('%s is not a parsed URL', async (host) => {
    const { status, reasons } = await ask(`https://${host}:${portOf()}/client.json`)
    expect([status, connections]).toEqual([400, 0])
    expect(reasons).toHaveLength(1)
  })
})
