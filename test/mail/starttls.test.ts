// STARTTLS with a server on loopback. A mail, and the password, are sent only when TLS has begun, unless the server is this
// machine and nothing demands TLS.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { smtpMailer } from '@grantry/mail'
import { afterEach, describe, expect, test } from 'vitest'
import { alternativeNames, authority, certificate, commonName } from '../mtls/certificates.ts'
import { startSmtpServer } from '../support/smtp-server.ts'

const message = { to: 'bob@example.com', subject: 'Hello', text: 'Hello Bob', html: '<p>Hello Bob</p>' }
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const root = certificate({ subject: commonName('Test authority'), extensions: authority })
const hostAddress = alternativeNames([7, Buffer.from([127, 0, 0, 1])])
const issued = (extension: Buffer, more: object = {}) =>
  certificate({ subject: commonName('mail'), extensions: [extension], by: root, ...more })
const tlsOf = ({ pem: cert, keyPem: key }: ReturnType<typeof certificate>) => ({ cert, key })

async function server(...options: Parameters<typeof startSmtpServer>) {
  const started = await startSmtpServer(...options)
  closing.push(started.close)
  return started
}

async function stop(proxy: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  for (const socket of sockets) socket.destroy()
  await new Promise((resolve) => proxy.close(resolve))
}

/** A man in the middle, who removes the offer of TLS, and refuses the request for it. */
async function strip(port: number) {
  const seen: string[] = []
  const sockets = new Set<Socket>()
  const proxy = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
    }
    client.on('data', (chunk) => {
      seen.push(chunk.toString())
      if (/^STARTTLS/iu.test(chunk.toString())) client.write('454 TLS not available\r\n')
      else upstream.write(chunk)
    })
    upstream.on('data', (chunk) => client.write(chunk.toString().replace(/250-STARTTLS\r\n/u, '')))
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  closing.unshift(() => stop(proxy, sockets))
  return { port: (proxy.address() as AddressInfo).port, seen }
}

function send(port: number, more: object = {}, host = '127.0.0.1') {
  const mailer = smtpMailer({
    url: `smtp://id:the-password@${host}:${port}`,
    from: 'id@example.com',
    ca: root.pem,
    timeout: 5,
    ...more,
  })
  closing.unshift(mailer.close)
  return mailer.send(message)
}

const refused = (code: string) => `has not accepted a mail (${code}`

describe('STARTTLS', () => {
  test('encrypts the password and the mail', async () => {
    const { port, mails } = await server({ tls: tlsOf(issued(hostAddress)) })
    await send(port, { requireTls: true })
    expect(mails).toMatchObject([{ isEncrypted: true, user: 'id', to: ['bob@example.com'] }])
  })

  test('that the server does not offer is refused where it is required', async () => {
    const { port, commands } = await server()
    await expect(send(port, { requireTls: true })).rejects.toThrow(refused('ETLS'))
    expect(commands).not.toContain('AUTH')
    expect(commands).not.toContain('MAIL')
  })

  test('is required for every name that is not of this machine, also without the setting', async () => {
    const { port, commands } = await server()
    // The system connects to itself, but the address names no machine.
    await expect(send(port, {}, '0.0.0.0')).rejects.toThrow(refused('ETLS'))
    expect(commands).not.toContain('AUTH')
  })

  test('that a man in the middle removes from the offers is refused, and the password stays unsent', async () => {
    const { port, commands } = await server({ tls: tlsOf(issued(hostAddress)) })
    const middle = await strip(port)
    await expect(send(middle.port, { requireTls: true })).rejects.toThrow(refused('ETLS'))
    expect(middle.seen.join('')).not.toMatch(/AUTH|MAIL/u)
    expect(commands).not.toContain('AUTH')
  })

  test.each([
    ['of another host', tlsOf(issued(alternativeNames([2, 'mail.example.com'])))],
    ['of an unknown authority', tlsOf(certificate({ subject: commonName('mail'), extensions: [hostAddress] }))],
    ['that has expired', tlsOf(issued(hostAddress, { notBefore: 1_500_000_000, notAfter: 1_600_000_000 }))],
  ])('with a certificate %s is refused', async (_what, tls) => {
    const { port, commands, mails } = await server({ tls })
    await expect(send(port, { requireTls: true })).rejects.toThrow(refused('E'))
    expect(commands).not.toContain('AUTH')
    expect(mails).toEqual([])
  })

  const ownCertificate = () => tlsOf(certificate({ subject: commonName('mail.local'), extensions: [] }))

  test('with a server of this machine and its own certificate, a mail arrives where nothing demands TLS', async () => {
    const { port, mails } = await server({ tls: ownCertificate() })
    await send(port, { ca: undefined })
    expect(mails).toMatchObject([{ isEncrypted: true, credentials: '|id|the-password' }])
  })

  test.each([{ requireTls: true }, { ca: root.pem }])('with %j, its own certificate is refused', async (more) => {
    const { port, mails } = await server({ tls: ownCertificate() })
    await expect(send(port, { ca: undefined, ...more })).rejects.toThrow(refused('E'))
    expect(mails).toEqual([])
  })

  test('with another machine, its own certificate is refused', async () => {
    const { port, mails } = await server({ tls: ownCertificate() })
    await expect(send(port, { ca: undefined }, '0.0.0.0')).rejects.toThrow(refused('E'))
    expect(mails).toEqual([])
  })

  test('cannot be switched off for another machine', () => {
    const options = { url: 'smtp://mail.example.com', from: 'id@example.com' }
    expect(() => smtpMailer({ ...options, requireTls: false })).toThrow(
      'smtpMailer(): requireTls must not be false for a server on another machine',
    )
    expect(() => smtpMailer({ ...options, url: 'smtp://127.0.0.1', requireTls: false }).close()).not.toThrow()
  })
})
