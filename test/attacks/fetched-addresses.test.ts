/**
 * Attack: a client, or an attacker who can register one, names a URL whose host has an address of the provider's own network, such
 * as the metadata service of its cloud (SSRF). The name looks public, so only the address shows it, and the address can
 * change between the start and the request (DNS rebinding).
 *
 * OpenID Connect Back-Channel Logout 1.0 section 2.2; RFC 6890. test/runtimes/guarded-fetch.test.ts proves on every runtime
 * that the address is the one that the socket connects to.
 */
import dns from 'node:dns'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { fetchedUriProblem } from '../../plugins/shared/fetched-uri.ts'
import { isPublicAddress } from '../../plugins/shared/public-address.ts'
import { clients, setUpNotified } from '../back-channel-logout/parties.ts'
import { claims, client, lastReason, outcomeOf, present, setUp, sign } from '../client-assertion/assertions.ts'
import * as metadata from '../client-metadata/parties.ts'

let connections = 0
const server = createServer((socket) => {
  connections += 1
  socket.destroy()
})
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => void server.close())
const port = (): number => (server.address() as AddressInfo).port

/** Every name has these addresses, by each way to look one up. */
function resolveTo(ipv4: readonly string[], ipv6: readonly string[] = []): void {
  const { prototype } = dns.promises.Resolver
  vi.spyOn(prototype, 'resolve4').mockImplementation(async () => [...ipv4] as never)
  vi.spyOn(prototype, 'resolve6').mockImplementation(async () => [...ipv6] as never)
  vi.spyOn(dns, 'lookup').mockImplementation(((
    _name: string,
    _options: object,
    done: (...results: unknown[]) => void,
  ) => done(null, [{ address: ipv4[0], family: 4 }])) as never)
}
beforeEach(() => {
  connections = 0
})
afterEach(() => {
  vi.restoreAllMocks()
})

describe('a host whose name has an address of this machine', () => {
  test('gets no request for a metadata document, and looks like a host that does not exist', async () => {
    resolveTo(['127.0.0.1'])
    const refused = await metadata.setUp(metadata.createHosts(), { fetch: undefined })
    const within = await refused.authorize({ client_id: `https://db.example.com:${port()}/client` })
    resolveTo([])
    const missing = await metadata.setUp(metadata.createHosts(), { fetch: undefined })
    const none = await missing.authorize({ client_id: `https://db.example.com:${port()}/client` })
    expect([within.status, refused.failures(), connections]).toEqual([503, missing.failures(), 0])
    const shown = ({ html }: { readonly html: string }) => html.replaceAll(/[\w-]{12,}(?=<)/gu, '')
    expect([none.status, shown(none)]).toEqual([503, shown(within)])
  })

  test('gets no request for keys, and the event says which setting would allow it', async () => {
    resolveTo(['127.0.0.1'])
    const f = await setUp({}, [client({ jwks: undefined, jwksUri: `https://keys.example.com:${port()}/jwks` })])
    expect(await outcomeOf(f, await sign(claims()))).toEqual([401, 'keys_address_refused'])
    expect(connections).toBe(0)
    // Also in the cooldown.
    expect((await present(f, await sign(claims()))).status).toBe(401)
    expect(lastReason(f)).toBe('plugin:client-assertion:keys_address_refused')
  })

  test('gets a request if private addresses are allowed', async () => {
    resolveTo(['127.0.0.1'])
    const jwksUri = `https://keys.example.com:${port()}/jwks`
    const f = await setUp({ jwksUri: { allowPrivateAddresses: true } }, [client({ jwks: undefined, jwksUri })])
    expect(await outcomeOf(f, await sign(claims()))).toEqual([401, 'keys_unavailable'])
    expect(connections).toBeGreaterThan(0)
  })
})

describe('an address that is not public', () => {
  test.each([
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '100.64.0.1',
    '100.100.100.200',
    '127.0.0.1',
    '127.255.255.254',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.0.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::7f00:1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:0:10.0.0.1',
    '64:ff9b::10.0.0.1',
    '64:ff9b::169.254.169.254',
    '64:ff9b:1::808:808',
    '100::1',
    '2001::1',
    '2001:2::1',
    '2001:10::1',
    '2001:db8::1',
    '2002:7f00:1::1',
    '2002:808:808::1',
    '3fff::1',
    '5f00::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '4000::1',
    '',
    'localhost',
    '127.1',
    '0x7f.0.0.1',
    '010.0.0.1',
    '2130706433',
    '8.8.8.8.',
    '[2606:4700::1111]',
  ])('is %s', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })

  test.each([
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '168.63.129.15',
    '172.15.255.255',
    '172.32.0.0',
    '192.0.1.1',
    '192.167.255.255',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '::ffff:8.8.8.8',
    '64:ff9b::8.8.8.8',
    '2001:200::1',
    '2001:4860:4860::8888',
    '2003::1',
    '2606:4700:4700::1111',
    '3ffe:ffff::1',
  ])('is not %s', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })
})

test.each([
  'https://kubernetes.default.svc/',
  'https://api.default.svc.cluster.local/',
  'https://keys.test/',
  'https://test/',
  'https://keys.invalid/',
  'https://keys.onion/',
])('%s is a name of no public host', (uri) => {
  expect(fetchedUriProblem(uri, { allowPrivateAddresses: false })).toMatch(/must have the name of a public host/u)
  expect(fetchedUriProblem(uri, { allowPrivateAddresses: true })).toBeUndefined()
})

test('a client whose host has an address of this machine gets no logout token', async () => {
  resolveTo(['127.0.0.1'], ['2606:4700::1111'])
  const backchannelLogoutUri = `https://client.example.com:${port()}/logout`
  const withLogoutUri = clients.map((client) =>
    client.clientId === 'web' ? { ...client, backchannelLogoutUri } : client,
  )
  const { signedIn, logout, isSignedIn } = await setUpNotified({ fetch: undefined }, { clients: withLogoutUri })
  const { browser, hint } = await signedIn()
  await logout(browser, { id_token_hint: hint })
  expect(await isSignedIn(browser)).toBe(false)
  expect(connections).toBe(0)
})
