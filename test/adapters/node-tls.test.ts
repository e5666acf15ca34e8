import { Agent } from 'node:https'
import { connect } from 'node:tls'
import { type RunningServer, serve, type TlsSettings } from '@grantry/adapters/node'
import type { ClientCertificate } from '@grantry/core'
import { afterEach, describe, expect, test } from 'vitest'
import { certificate, commonName, type Issued } from '../mtls/certificates.ts'
import { current, fetchWith, root, serverCertificate, signedByRoot } from '../mtls/https.ts'

const settingsOf = ({ pem, keyPem }: Issued): TlsSettings => ({ certificate: pem, key: keyPem })
const settings = { ...settingsOf(serverCertificate), requestCertificates: true, clientAuthorities: root.pem }

let server: RunningServer | undefined
let seen: (ClientCertificate | undefined)[] = []
afterEach(() => server?.close(0))

async function start(tls: TlsSettings): Promise<RunningServer> {
  seen = []
  const fetch = async (
    _request: Request,
    connection?: { readonly clientCertificate?: ClientCertificate | undefined },
  ) => {
    seen.push(connection?.clientCertificate)
    return new Response('ok')
  }
  server = await serve({ issuer: 'https://id.example.com', fetch }, { tls })
  return server
}

const request = async ({ port }: RunningServer, issued?: Issued): Promise<string> =>
  (await fetchWith(issued, new Agent({ keepAlive: false }))(`https://127.0.0.1:${port}/`)).text()

/** Opens a connection. Returns its protocol, cipher and the name of the server. */
const handshake = ({ port }: RunningServer, options: object): Promise<readonly unknown[]> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options }, () => {
      const { subject } = socket.getPeerCertificate()
      resolve([socket.getProtocol(), socket.getCipher().name, subject.CN])
      socket.destroy()
    })
    socket.once('error', reject)
  })

describe('serve() with tls', () => {
  test('passes the certificate of the client, and whether an authority has signed it', async () => {
    const running = await start(settings)
    const [signed, forged] = [signedByRoot({ subject: commonName('a') }), certificate(current)]
    expect(await request(running, signed)).toBe('ok')
    await request(running, forged)
    await request(running)
    expect(seen).toEqual([{ der: signed.der, verified: true }, { der: forged.der, verified: false }, undefined])
  })

  test('verifies no certificate without authorities, and requests none by default', async () => {
    const signed = signedByRoot({ subject: commonName('a') })
    const { clientAuthorities, ...withoutAuthorities } = settings
    const running = await start(withoutAuthorities)
    await request(running, signed)
    expect(seen).toEqual([{ der: signed.der, verified: false }])
    await running.close(0)
    await request(await start(settingsOf(serverCertificate)), signed)
    expect(seen).toEqual([undefined])
  })

  test.each([
    ['TLSv1.3', {}, 'TLS_AES_128_GCM_SHA256'],
    ['TLSv1.2', { maxVersion: 'TLSv1.2' }, 'ECDHE-ECDSA-AES128-GCM-SHA256'],
    ['TLSv1.2', { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES256-GCM-SHA384' }, 'ECDHE-ECDSA-AES256-GCM-SHA384'],
  ])('16.8 accepts %s with %j', async (protocol, options, cipher) => {
    const running = await start(settings)
    // The order is that of the client.
    const offer = { ciphers: cipher, ...options }
    expect(await handshake(running, offer)).toEqual([protocol, cipher, 'localhost'])
  })

  test.each([
    ['TLS 1.1', { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }],
    ['CBC', { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA256' }],
    ['a cipher without authentication', { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA' }],
    ['ChaCha20 in TLS 1.2', { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-CHACHA20-POLY1305' }],
  ])('16.8 refuses %s', async (_, options) => {
    await expect(handshake(await start(settings), options)).rejects.toThrow()
  })

  test('16.9 uses a new certificate for new connections, and keeps the old one if the new one is not valid', async () => {
    const running = await start(settings)
    const next = signedByRoot({ subject: commonName('renewed') })
    expect(() => running.updateTls({ ...settings, certificate: 'x' })).toThrow()
    expect((await handshake(running, {})).at(-1)).toBe('localhost')
    running.updateTls({ ...settings, ...settingsOf(next) })
    expect((await handshake(running, {})).at(-1)).toBe('renewed')
    expect(await request(running, signedByRoot({ subject: commonName('a') }))).toBe('ok')
    expect(seen.at(-1)?.verified).toBe(true)
  })

  test('refuses a certificate or a key that is not valid', async () => {
    await expect(start({ ...settings, certificate: 'x' })).rejects.toThrow()
    await expect(start({ ...settings, key: certificate().keyPem })).rejects.toThrow()
  })

  // Node.js would trust all public authorities, or have no certificate.
  test.each(['certificate', 'key', 'clientAuthorities'])(
    'refuses an empty %s, also of a file being written',
    async (name) => {
      await expect(start({ ...settings, [name]: '' })).rejects.toThrow(`tls.${name} must be`)
      const running = await start(settings)
      expect(() => running.updateTls({ ...settings, [name]: '' })).toThrow(`tls.${name} must be`)
      await request(running, signedByRoot({ subject: commonName('a') }))
      expect(seen.at(-1)?.verified).toBe(true)
    },
  )
})

test('a server without TLS cannot change it', async () => {
  server = await serve({ issuer: 'https://id.example.com', fetch: async () => new Response() })
  expect(() => server?.updateTls(settings)).toThrow('The server has no TLS')
})
