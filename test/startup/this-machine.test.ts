import { isLocalhostUrl, isLoopbackHost, isLoopbackRedirect, issuerSchema } from '@grantry/core'
import { smtpSchema } from '@grantry/mail/options'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { safeUrl } from '../../packages/resource-server/src/option-checks.ts'
import { isLoopbackHeader } from '../../packages/server/src/local-address.ts'
import { ldapUsersSchema } from '../../packages/users/src/ldap/ldap-options.ts'
import { fetchedUriProblem } from '../../plugins/shared/fetched-uri.ts'
import { ownRedirectProblem } from '../../plugins/shared/self-described.ts'

// Each row is a host as it stands in a URL. The rules differ on purpose: packages/core/src/this-machine.ts says why.
interface Row {
  readonly host: string
  /** Whether each resolver takes it for this machine. */
  readonly loopback?: true
  /** Whether it is below `localhost`, which only browsers and clients keep on this machine. */
  readonly below?: true
  /** Whether a redirect URI may have it, at any port. */
  readonly redirect?: true
}

const rows: readonly Row[] = [
  { host: '127.0.0.1', loopback: true, redirect: true },
  { host: '[::1]', loopback: true, redirect: true },
  { host: 'localhost', loopback: true, redirect: true },
  { host: '127.0.0.2', loopback: true },
  { host: '127.255.255.254', loopback: true },
  { host: '127.1', loopback: true },
  { host: '0x7f000001', loopback: true },
  { host: '0x7f.1', loopback: true },
  { host: '0177.0.0.1', loopback: true },
  { host: '2130706433', loopback: true },
  { host: '[::ffff:127.0.0.1]', loopback: true },
  { host: '[::ffff:7f00:2]', loopback: true },
  { host: '[0:0:0:0:0:0:0:1]', loopback: true },
  { host: 'LOCALHOST', loopback: true },
  { host: 'a.localhost', below: true },
  { host: 'a.b.LOCALHOST', below: true },
  { host: 'localhost.' },
  { host: 'a.localhost.' },
  { host: '.localhost' },
  { host: 'localhost.example' },
  { host: 'notlocalhost' },
  { host: 'localhost.localdomain' },
  { host: '127.0.0.1.example' },
  { host: '128.0.0.1' },
  { host: '1.127.0.0' },
  { host: '10.0.0.1' },
  { host: '0.0.0.0' },
  { host: '[::]' },
  { host: '[::ffff:10.0.0.1]' },
  { host: '[::ffff:8.8.127.0]' },
  { host: '[::127.0.0.1]' },
  { host: '[::2]' },
  { host: '[fe80::1]' },
  { host: 'machine' },
]

const accepts = (schema: v.GenericSchema, value: unknown): boolean => v.is(schema, value)

const directory = { bindDn: 'cn=a', bindPassword: 'b', baseDn: 'dc=a', attributes: { username: 'uid' } }

/** What only this machine may do without TLS, or from it. */
const permissions: Readonly<Record<string, (host: string) => boolean>> = {
  isLoopbackHost: (host) => isLoopbackHost(host),
  'a Host header': (host) => isLoopbackHeader(`${host}:8484`),
  'mails without TLS': (host) =>
    accepts(smtpSchema, { url: `smtp://${host}`, from: 'a@example.com', requireTls: false }),
  'a directory without TLS': (host) => accepts(ldapUsersSchema, { ...directory, url: `ldap://${host}` }),
  'a provider without TLS': (host) =>
    fetchedUriProblem(`http://${host}/`, { allowPrivateAddresses: true, allowLoopbackHttp: true }) === undefined,
  'keys of an issuer without TLS': (host) => {
    try {
      return safeUrl(`http://${host}/`, 'issuer') !== ''
    } catch {
      return false
    }
  },
}

describe('this machine', () => {
  test.each(rows)('$host', ({ host, loopback = false, below = false, redirect = false }) => {
    const permitted = Object.fromEntries(Object.entries(permissions).map(([name, permits]) => [name, permits(host)]))
    expect(permitted).toEqual(Object.fromEntries(Object.keys(permissions).map((name) => [name, loopback])))
    expect(isLocalhostUrl(`http://${host}/`)).toBe(loopback || below)
    // An issuer is written as the parser of URLs writes it.
    const url = URL.canParse(`http://${host}`) ? new URL(`http://${host}`).origin : `http://${host}`
    expect(accepts(issuerSchema, url)).toBe(loopback || below)
    expect(isLoopbackRedirect(`http://${host}:8484/callback`)).toBe(redirect)
    expect(ownRedirectProblem(`http://${host}/callback`) === undefined).toBe(redirect)
  })

  test.each(rows.filter(({ loopback, below }) => loopback || below))(
    'is not fetched as a public host: $host',
    ({ host }) => {
      expect(fetchedUriProblem(`https://${host}/`, { allowPrivateAddresses: false })).toMatch(/public host/u)
    },
  )

  test.each(['localhost.', 'a.localhost.', '0.0.0.0', '[::]', 'machine', 'localhost.localdomain'])(
    'is not fetched as a public host, although no rule permits it more: %s',
    (host) => {
      expect(fetchedUriProblem(`https://${host}/`, { allowPrivateAddresses: false })).toMatch(/public host/u)
    },
  )

  // Addresses of connections come without brackets.
  test.each([
    // The parser of URLs takes the long s for an s.
    ['localho\u017ft', false],
    ['::1', true],
    ['::ffff:127.0.0.1', true],
    ['::FFFF:127.8.0.1', true],
    ['127.0.0.1', true],
    ['::', false],
    ['::ffff:10.0.0.1', false],
    ['', false],
    [undefined, false],
  ])('an address without brackets: %s', (address, expected) => {
    expect(isLoopbackHost(address)).toBe(expected)
  })

  test.each([
    'localhost:80',
    '127.0.0.1/a',
    'evil.example@localhost',
    'localhost@evil.example',
    'localhost#a',
    'localhost?a',
    'localhost\\a',
    ' localhost',
    'local\thost',
    'ｌocalhost',
    '[::1]:80',
    '[::1',
    '::1%lo',
  ])('is not more than a host: %j', (host) => {
    expect(isLoopbackHost(host)).toBe(false)
  })
})
