import type { ClientOptions } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { alternativeNames, type CertificateOptions, certificate, commonName, der, nameOf } from './certificates.ts'
import { clientWith, presented, request, start } from './parties.ts'

/** Returns the status and the reason of a request with this certificate. */
async function outcome(client: Partial<ClientOptions>, options: CertificateOptions, verified = true) {
  const { status, reason } = await request(await start([clientWith(client)]), presented(certificate(options), verified))
  return [status, reason]
}

const accepted = [200, undefined]
const mismatch = [401, 'plugin:mtls:subject_mismatch']

describe('tlsClientAuthSubjectDn', () => {
  const subject = nameOf(
    [['C', 'US', 0x13]],
    [['O', 'Example, Inc.']],
    [
      ['OU', 'Zahlung Müller'],
      ['CN', 'pay'],
    ],
  )

  test.each([
    ['as in RFC 4514', String.raw`CN=pay+OU=Zahlung Müller,O=Example\, Inc.,C=US`],
    [
      'with the attributes of a relative name in another order',
      String.raw`OU=Zahlung Müller+CN=pay,O=Example\, Inc.,C=US`,
    ],
    ['with the DER of a value', String.raw`CN=#0c03706179+OU=Zahlung Müller,O=Example\, Inc.,C=US`],
    ['with escaped octets', String.raw`CN=pay+OU=Zahlung M\c3\bcller,O=Example\2c Inc.,C=US`],
    [
      'with other case, spaces and names of attributes',
      String.raw`cn = PAY + 2.5.4.11=ZAHLUNG  MÜLLER, o=example\, inc., c=us`,
    ],
  ])('accepts the subject written %s', async (_, text) => {
    expect(await outcome({ tlsClientAuthSubjectDn: text }, { subject })).toEqual(accepted)
  })

  test.each([
    ['reversed', String.raw`C=US,O=Example\, Inc.,OU=Zahlung Müller+CN=pay`],
    ['with separate relative names', String.raw`CN=pay,OU=Zahlung Müller,O=Example\, Inc.,C=US`],
    ['without one name', String.raw`CN=pay+OU=Zahlung Müller,O=Example\, Inc.`],
    ['with one name more', String.raw`CN=pay+OU=Zahlung Müller,O=Example\, Inc.,C=US,DC=com`],
    ['with another type', String.raw`OU=pay+CN=Zahlung Müller,O=Example\, Inc.,C=US`],
  ])('refuses the subject written %s', async (_, text) => {
    expect(await outcome({ tlsClientAuthSubjectDn: text }, { subject })).toEqual(mismatch)
  })

  test.each([
    ['PrintableString', 0x13, 'pay'],
    ['UTF8String', 0x0c, 'pay'],
    ['IA5String', 0x16, 'pay'],
    ['BMPString', 0x1e, '\0p\0a\0y'],
  ])('compares the text of a %s', async (_, tag, value) => {
    const subject = nameOf([['CN', value, tag]])
    expect(await outcome({ tlsClientAuthSubjectDn: 'CN=Pay' }, { subject })).toEqual(accepted)
  })

  test('compares a value of another type by its DER', async () => {
    const subject = nameOf([['2.5.4.45', Buffer.from([0, 0xa5]), 0x03]])
    expect(await outcome({ tlsClientAuthSubjectDn: '2.5.4.45=#030200A5' }, { subject })).toEqual(accepted)
    expect(await outcome({ tlsClientAuthSubjectDn: '2.5.4.45=#030200A6' }, { subject })).toEqual(mismatch)
    const text = nameOf([['2.5.4.45', '#030200a5']])
    expect(await outcome({ tlsClientAuthSubjectDn: '2.5.4.45=#030200A5' }, { subject: text })).toEqual(mismatch)
    expect(await outcome({ tlsClientAuthSubjectDn: String.raw`2.5.4.45=\#030200a5` }, { subject: text })).toEqual(
      accepted,
    )
  })

  test.each([
    '',
    ' ',
    'pay',
    'CN',
    'CN=pay,',
    'CN=pay+',
    'XY=pay',
    'constructor=pay',
    'CN="pay"',
    'CN=a;O=b',
    'CN=a<b',
    'CN=#0',
    'CN=#0c',
    'CN=#0c01610c0161',
    'CN=#xyz',
    String.raw`CN=a\z`,
    String.raw`CN=a\c3`,
    'CN=pay\0',
    ',CN=pay',
  ])('cannot be %j', async (text) => {
    await expect(start([clientWith({ tlsClientAuthSubjectDn: text })])).rejects.toThrow(
      'clients[0] ("machine"): tlsClientAuthSubjectDn must be a distinguished name',
    )
  })

  test('can have an empty value, and the characters that need no escape', async () => {
    const subject = nameOf([['O', '']], [['CN', 'a=b#c/d']])
    expect(await outcome({ tlsClientAuthSubjectDn: 'CN=a=b#c/d,O=' }, { subject })).toEqual(accepted)
  })
})

const ip = (...octets: readonly number[]): Buffer => Buffer.from(octets)
const zeros = (count: number): readonly number[] => Array.from({ length: count }, () => 0)

describe('a subject alternative name', () => {
  const names = alternativeNames(
    [1, 'Ops@Example.com'],
    [2, 'Pay.example.com'],
    [2, '*.wild.example.com'],
    [6, 'spiffe://example.com/pay'],
    [7, ip(192, 0, 2, 1)],
    [7, ip(0x20, 1, 0xd, 0xb8, ...zeros(11), 1)],
  )
  const options = { subject: commonName('ops@example.com'), extensions: [names] }

  test.each<[keyof ClientOptions, string]>([
    ['tlsClientAuthSanDns', 'pay.EXAMPLE.com'],
    ['tlsClientAuthSanDns', '*.wild.example.com'],
    ['tlsClientAuthSanUri', 'spiffe://example.com/pay'],
    ['tlsClientAuthSanIp', '192.0.2.1'],
    ['tlsClientAuthSanIp', '2001:db8::1'],
    ['tlsClientAuthSanIp', '2001:0DB8:0:0:0:0:0:1'],
    ['tlsClientAuthSanEmail', 'Ops@EXAMPLE.COM'],
  ])('is accepted: %s %s', async (member, value) => {
    expect(await outcome({ [member]: value }, options)).toEqual(accepted)
  })

  test.each<[keyof ClientOptions, string]>([
    ['tlsClientAuthSanDns', 'example.com'],
    ['tlsClientAuthSanDns', 'a.wild.example.com'],
    ['tlsClientAuthSanDns', 'pay.example.com.'],
    ['tlsClientAuthSanDns', '192.0.2.1'],
    ['tlsClientAuthSanUri', 'spiffe://example.com/Pay'],
    ['tlsClientAuthSanUri', 'Pay.example.com'],
    ['tlsClientAuthSanIp', '192.0.2.2'],
    ['tlsClientAuthSanIp', '::ffff:192.0.2.1'],
    ['tlsClientAuthSanEmail', 'ops@example.com'],
    ['tlsClientAuthSubjectDn', 'CN=pay.example.com'],
  ])('is refused: %s %s', async (member, value) => {
    expect(await outcome({ [member]: value }, options)).toEqual(mismatch)
  })

  test.each<[keyof ClientOptions, string]>([
    ['tlsClientAuthSanDns', ''],
    ['tlsClientAuthSanDns', 'pay example.com'],
    ['tlsClientAuthSanUri', 'pay\n'],
    ['tlsClientAuthSanIp', '192.0.2'],
    ['tlsClientAuthSanIp', '192.0.2.010'],
    ['tlsClientAuthSanIp', '256.0.0.1'],
    ['tlsClientAuthSanIp', '2001:db8'],
    ['tlsClientAuthSanIp', 'fe80::1%eth0'],
    ['tlsClientAuthSanEmail', 'ops'],
  ])('cannot be: %s %j', async (member, value) => {
    await expect(start([clientWith({ [member]: value })])).rejects.toThrow(`clients[0] ("machine"): ${member} must be`)
  })

  test('is not taken from the subject', async () => {
    const withoutNames = { subject: nameOf([['1.2.840.113549.1.9.1', 'ops@example.com', 0x16]]) }
    expect(await outcome({ tlsClientAuthSanEmail: 'ops@example.com' }, withoutNames)).toEqual(mismatch)
  })

  test('with a NUL is another name', async () => {
    const extensions = [alternativeNames([2, 'pay.example.com\0.evil.example'])]
    expect(await outcome({ tlsClientAuthSanDns: 'pay.example.com' }, { extensions })).toEqual(mismatch)
  })

  test('is refused in a certificate with two such extensions', async () => {
    const extensions = [alternativeNames([2, 'pay.example.com']), alternativeNames([2, 'other.example.com'])]
    expect(await outcome({ tlsClientAuthSanDns: 'pay.example.com' }, { extensions })).toEqual([
      401,
      'plugin:mtls:certificate_malformed',
    ])
  })
})

describe('a client', () => {
  test('16.3 has at most one subject', async () => {
    const both = { tlsClientAuthSubjectDn: 'CN=pay', tlsClientAuthSanDns: 'pay.example.com' }
    await expect(start([clientWith(both)])).rejects.toThrow(
      'tlsClientAuthSanDns cannot be combined with tlsClientAuthSubjectDn; remove one of them',
    )
  })

  test('16.3 is not authenticated by a certificate whose chain is not verified', async () => {
    expect(await outcome({ tlsClientAuthSubjectDn: 'CN=client' }, {}, false)).toEqual([
      401,
      'plugin:mtls:certificate_not_verified',
    ])
  })

  test.each([
    ['that is not valid yet', { notBefore: 1_800_000_001 }, 'certificate_not_yet_valid'],
    ['that has expired', { notAfter: 1_799_999_999 }, 'certificate_expired'],
  ])('is not authenticated by a certificate %s', async (_, period, reason) => {
    expect(await outcome({ tlsClientAuthSubjectDn: 'CN=client' }, period)).toEqual([401, `plugin:mtls:${reason}`])
  })

  test.each<[string, number, string, boolean]>([
    ['UTCTime', 0x17, '490101000000Z', true],
    ['UTCTime of the last century', 0x17, '500101000000Z', false],
    ['GeneralizedTime', 0x18, '20500101000000Z', true],
    ['a leap day', 0x17, '280229235959Z', true],
    ['a day that does not exist', 0x17, '290229000000Z', false],
    ['a month that does not exist', 0x17, '281301000000Z', false],
    ['an hour that does not exist', 0x17, '280101240000Z', false],
    ['a time without seconds', 0x17, '2801010000Z', false],
    ['a time with an offset', 0x17, '280101000000+0100', false],
    ['a time with a fraction', 0x18, '20280101000000.5Z', false],
  ])('reads the end of the period: %s', async (_, tag, text, isValid) => {
    const options = { validity: [der(0x17, '200101000000Z'), der(tag, text)] } as const
    const [status] = await outcome({ tlsClientAuthSubjectDn: 'CN=client' }, options)
    expect(status).toBe(isValid ? 200 : 401)
  })

  test('without a method that is enabled is refused at startup', async () => {
    const client = clientWith({ tlsClientAuthSubjectDn: 'CN=pay' })
    await expect(start([client], { methods: ['self_signed_tls_client_auth'] })).rejects.toThrow('no usable secret')
  })
})

test('bytes that are not a certificate are refused', async () => {
  const f = await start([clientWith({ tlsClientAuthSubjectDn: 'CN=client' })])
  const texts = ['', 'x', '!', der(0x30).toString('base64'), `${certificate().der}AAAA`, 'A'.repeat(30_000)]
  for (const text of texts) {
    const { status, reason } = await request(f, { der: text, verified: true })
    expect([status, reason]).toEqual([401, 'plugin:mtls:certificate_malformed'])
  }
})
