/**
 * Attack: a certificate is public, and anyone can create one with any names. An attacker who has the certificate of a
 * client, but not its key, sends it in the header of a proxy. Others create certificates whose names resemble those of a
 * client, use the certificate of another client, or use a stolen token without its certificate.
 *
 * RFC 8705 sections 2, 3, 7.3 and 7.4: only the TLS handshake proves a certificate, only a verified chain proves its
 * names, and a bound token is useless without its certificate.
 */
import { generateKeyPairSync } from 'node:crypto'
import { type ServeOptions, serve } from '@grantry/adapters/node'
import type { ClientOptions } from '@grantry/core'
import { clientAssertion } from '@grantry/plugins/client-assertion'
import { mtls } from '@grantry/plugins/mtls'
import type { Credentials } from '@grantry/testing'
import { afterEach, describe, expect, test } from 'vitest'
import { certificate, nameOf } from '../mtls/certificates.ts'
import {
  clientWith,
  login,
  machineTokens,
  presented,
  request,
  secretClient,
  selfSigned,
  start,
  use,
} from '../mtls/parties.ts'
import { builtInPlugins, type Fixture } from '../support/fixture.ts'

const certificateOfVictim = certificate()
const victim = clientWith({ ...selfSigned(certificateOfVictim.jwk), tlsClientCertificateBoundAccessTokens: true })

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

describe('a certificate in a header', () => {
  const escaped = encodeURIComponent(certificateOfVictim.pem)
  const headers = {
    'x-client-cert': escaped,
    'client-cert': `:${certificateOfVictim.der}:`,
    'x-forwarded-client-cert': `Cert="${escaped}"`,
    'ssl-client-cert': escaped,
  }

  async function sendTo(f: Fixture, options: ServeOptions, sent: Record<string, string> = headers): Promise<number> {
    const { port, close } = await serve(f.provider, options)
    closers.push(() => close(0))
    const body = new URLSearchParams({ ...machineTokens, client_id: 'machine' })
    const response = await fetch(`http://127.0.0.1:${port}/connect/token`, { method: 'POST', headers: sent, body })
    await response.text()
    return response.status
  }

  test.each<[string, ServeOptions]>([
    ['without a trusted proxy', {}],
    ['with proxies that are trusted for the address only', { trustedProxies: 1 }],
    [
      'from another address than those of the proxies',
      { trustedProxies: 1, clientCertificate: { header: 'x-client-cert', format: 'pem', proxies: ['192.0.2.1'] } },
    ],
    [
      'other than the one of the proxy',
      { trustedProxies: 1, clientCertificate: { header: 'x-proxy-cert', format: 'pem', proxies: ['127.0.0.1'] } },
    ],
  ])('16.7 is ignored %s', async (_, options) => {
    expect(await sendTo(await start([victim]), options)).toBe(401)
  })

  // Envoy writes these names without quotes. A certificate of an attacker can contain any characters in them.
  test.each([
    ['a DNS name', (name: string) => `DNS=${name}`],
    ['a URI', (name: string) => `URI=https://x/${name}`],
    ['one of several names', (name: string) => `DNS=a.example.com;DNS=${name}`],
  ])('16.7 cannot be added to X-Forwarded-Client-Cert by %s of a certificate', async (_, written) => {
    const header = 'x-forwarded-client-cert'
    const thief = encodeURIComponent(certificate().pem)
    const f = await start([victim], {}, { runtime: { now: () => 1_800_000_000 } })
    for (const position of [1, 2]) {
      const clientCertificate = { header, format: 'xfcc', proxies: ['127.0.0.1'], position } as const
      const injected = written(`a,Cert="${escaped}"`)
      const inner = position === 1 ? '' : ',By=spiffe://mesh/a;Hash=abc;Cert="x"'
      const value = `By=spiffe://mesh/a;Hash=abc;Cert="${thief}";${injected}${inner}`
      expect(await sendTo(f, { clientCertificate }, { [header]: value })).toBe(401)
    }
  })

  test('16.7 counts from the proxy', async () => {
    const clientCertificate = { header: 'x-client-cert', format: 'pem', proxies: ['127.0.0.1'] } as const
    const f = await start([victim], {}, { runtime: { now: () => 1_800_000_000 } })
    expect(await sendTo(f, { clientCertificate })).toBe(200)
  })
})

describe('a certificate of an attacker', () => {
  const client = clientWith({ tlsClientAuthSubjectDn: 'CN=kate,O=Example,C=US' })
  const [country, organization] = [[['C', 'US']], [['O', 'Example']]] as const

  test.each([
    ['with a Cyrillic letter', nameOf(country, organization, [['CN', 'k\u0430te']])],
    ['with the Kelvin sign', nameOf(country, organization, [['CN', '\u212aate']])],
    ['with full-width letters', nameOf(country, organization, [['CN', '\uff4bate']])],
    ['with an invisible character', nameOf(country, organization, [['CN', 'ka\u200bte']])],
    ['with a NUL', nameOf(country, organization, [['CN', 'kate\0']])],
    ['with a space in the name', nameOf(country, organization, [['CN', 'ka te']])],
    ['with the names in one value', nameOf([['CN', 'kate,O=Example,C=US']])],
    ['with escaped names in one value', nameOf(country, [['O', String.raw`Example\,CN=kate`]])],
    [
      'with the names in one relative name',
      nameOf([
        ['CN', 'kate'],
        ['O', 'Example'],
        ['C', 'US'],
      ]),
    ],
    ['with the names in reverse', nameOf([['CN', 'kate']], organization, country)],
    ['with an additional name', nameOf(country, organization, [['CN', 'kate']], [['CN', 'kate']])],
    ['without names', nameOf()],
  ])('is not the one of the client: %s', async (_, subject) => {
    const { status, reason } = await request(await start([client]), presented(certificate({ subject })))
    expect([status, reason]).toEqual([401, 'plugin:mtls:subject_mismatch'])
  })

  test('16.3 with the right names is refused, if its chain is not verified', async () => {
    const forged = certificate({ subject: nameOf(country, organization, [['CN', 'kate']]) })
    const f = await start([client])
    expect((await request(f, presented(forged, false))).status).toBe(401)
    // A host that passes anything but `true`.
    expect((await request(f, { der: forged.der, verified: 'false' as never })).status).toBe(401)
    expect((await request(f, presented(forged))).status).toBe(200)
  })

  test('that another client uses does not authenticate this one', async () => {
    const others = certificate()
    const f = await start([victim, clientWith({ clientId: 'other', ...selfSigned(others.jwk) })])
    expect((await request(f, presented(others), { ...machineTokens, client_id: 'other' })).status).toBe(200)
    expect((await request(f, presented(others))).status).toBe(401)
  })

  test('does not replace the secret of a client', async () => {
    const f = await start([secretClient()])
    expect((await request(f, presented(certificateOfVictim))).status).toBe(401)
    expect((await request(f, presented(certificateOfVictim), machineTokens, ['machine', 'wrong'])).status).toBe(401)
  })
})

describe('a certificate with a short key', () => {
  const short = certificate({ keys: generateKeyPairSync('rsa', { modulusLength: 1024 }) })
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })

  test.each<[string, Partial<ClientOptions>]>([
    ['tls_client_auth', { tlsClientAuthSubjectDn: 'CN=client' }],
    ['self_signed_tls_client_auth and x5c', selfSigned({ ...publicKey.export({ format: 'jwk' }), x5c: [short.der] })],
  ])('16.11 does not authenticate with %s', async (_, client) => {
    const f = await start([clientWith(client)])
    expect((await request(f, presented(short))).status).toBe(401)
    expect(f.events.at(-1)).toMatchObject({ reason: 'plugin:mtls:certificate_key_short' })
  })

  test('16.11 binds no token', async () => {
    const f = await start([secretClient({ tlsClientCertificateBoundAccessTokens: true })])
    const { status, reason } = await request(f, presented(short), machineTokens, ['machine', 'machine-secret'])
    expect([status, reason]).toEqual([400, 'plugin:mtls:certificate_key_short'])
  })
})

describe('a client that uses certificates', () => {
  test('cannot use another method', async () => {
    const plugins = [builtInPlugins, mtls(), clientAssertion()]
    const f = await start([victim], {}, { plugins })
    const secret: Credentials = ['machine', 'machine-secret']
    expect((await request(f, presented(certificateOfVictim), machineTokens, secret)).status).toBe(401)
    expect((await request(f, undefined)).status).toBe(401)
    expect((await request(f, presented(certificateOfVictim))).status).toBe(200)
  })

  test('cannot use two methods in one request', async () => {
    const f = await start([victim])
    const twice = await request(f, presented(certificateOfVictim), { ...machineTokens, client_secret: 'x' })
    expect(twice.status).toBe(401)
  })
})

describe('a stolen token that is bound to a certificate', () => {
  const thief = certificate()
  const sameKey = certificate({ sameKeyAs: certificateOfVictim })

  test.each([
    ['without a certificate', undefined],
    ['with another certificate', presented(thief)],
    ['with another certificate of the same key', presented(sameKey)],
    ['with the certificate twice', { der: certificateOfVictim.der + certificateOfVictim.der, verified: true }],
  ])('16.5 is useless %s', async (_, clientCertificate) => {
    const f = await start([victim])
    const { body } = await request(f, presented(certificateOfVictim), login)
    expect((await use(f, body.access_token, clientCertificate)).status).toBe(401)
    expect((await use(f, body.access_token, presented(certificateOfVictim))).status).toBe(200)
  })

  test('is not valid for a caller that cannot have the certificate', async () => {
    const f = await start([victim])
    const { body } = await request(f, presented(certificateOfVictim))
    const validation = await f.post('accessTokenValidation', { token: body.access_token })
    expect(validation.status).toBe(400)
  })

  test('cannot be refreshed by another client with its own certificate', async () => {
    const others = clientWith({ clientId: 'other', ...selfSigned(thief.jwk) })
    const f = await start([victim, others])
    const { body } = await request(f, presented(certificateOfVictim), login)
    const form = { grant_type: 'refresh_token', refresh_token: body.refresh_token, client_id: 'other' }
    expect(await request(f, presented(thief), form)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  })
})
