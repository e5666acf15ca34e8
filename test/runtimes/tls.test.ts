/**
 * Attack: clients of a TLS server that present certificates which no authority has signed, on resumed sessions too, and
 * while the authorities change. On every runtime, the adapter counts only what the configured authorities have verified.
 */
import { type AddressInfo, connect as connectPlain, createServer } from 'node:net'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { expect, test } from 'vitest'
import { commonName, type Issued } from '../mtls/certificates.ts'
import { root, serverCertificate, signedByRoot } from '../mtls/https.ts'
import {
  agentOf,
  byOther,
  describeTlsServers,
  forged,
  get,
  otherRoot,
  type Seen,
  settings,
  settingsOf,
  signed,
  update,
} from './tls-servers.ts'

/** Opens a connection that completes its handshake only after `release`. Resolves when the server waits for it. */
async function inFlight(port: number, issued: Issued) {
  const held: (() => void)[] = []
  let isOpen = false
  let begun = (): void => {}
  const hasBegun = new Promise<void>((resolve) => {
    begun = resolve
  })
  const relay = createServer((from) => {
    const to = connectPlain(port, '127.0.0.1')
    let isFirst = true
    from.on('data', (bytes) => {
      if (isFirst || isOpen) to.write(bytes)
      else held.push(() => to.write(bytes))
      isFirst = false
    })
    to.on('data', (bytes) => {
      from.write(bytes)
      begun()
    })
    for (const [source, target] of [
      [from, to],
      [to, from],
    ] as const) {
      source.on('close', () => target.destroy())
      source.on('error', () => {})
    }
  })
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve))
  const agent = agentOf({ maxCachedSessions: 10 })
  const seen = get((relay.address() as AddressInfo).port, issued, agent)
  await hasBegun
  return {
    agent,
    async release(): Promise<Seen> {
      isOpen = true
      for (const send of held) send()
      const result = await seen
      relay.close()
      return result
    },
  }
}

/** Resumes a session of the certificate. Returns whether it was resumed, and what the server saw. */
async function resume(port: number, issued: Issued): Promise<readonly [boolean, Seen]> {
  const agent = agentOf({ maxCachedSessions: 10 })
  await get(port, issued, agent)
  let resumed = false
  const create = agent.createConnection.bind(agent)
  agent.createConnection = (options, callback) => {
    const socket = create(options, callback) as TLSSocket
    socket.once('secureConnect', () => {
      resumed = socket.isSessionReused()
    })
    return socket
  }
  const seen = await get(port, issued, agent)
  return [resumed, seen]
}

/** The handshakes that the server for Node.js and Bun accepts or refuses (RFC 9325). */
const handshake = (port: number, options: ConnectionOptions): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options }, () => {
      resolve(String(socket.getProtocol()))
      socket.destroy()
    })
    socket.once('error', reject)
  })

describeTlsServers(({ name, port, start }) => {
  test('passes the certificate of the client, whether an authority has signed it, and the address', async () => {
    expect(await get(port(), signed)).toMatchObject({
      clientAddress: '127.0.0.1',
      clientCertificate: { der: signed.der, verified: true },
    })
    expect((await get(port(), forged)).clientCertificate).toEqual({ der: forged.der, verified: false })
    expect((await get(port())).clientCertificate).toBeUndefined()
  })

  test('16.10 does not count a certificate of an authority that only the runtime trusts', async () => {
    expect((await get(port(), byOther)).clientCertificate).toEqual({ der: byOther.der, verified: false })
    const { clientAuthorities, ...withoutAuthorities } = settings
    const unverifying = await start({ tls: withoutAuthorities })
    expect((await get(unverifying.port, byOther)).clientCertificate).toEqual({ der: byOther.der, verified: false })
    expect((await get(unverifying.port, signed)).clientCertificate).toEqual({ der: signed.der, verified: false })
  })

  test('16.10 does not count a forged certificate on a resumed session, and counts a signed one', async () => {
    const [resumed, seen] = await resume(port(), forged)
    expect([resumed, seen.clientCertificate]).toEqual([true, { der: forged.der, verified: false }])
    const [again, afterwards] = await resume(port(), signed)
    expect([again, afterwards.clientCertificate]).toEqual([true, { der: signed.der, verified: true }])
  })

  // On Bun, the sockets of `node:https` have no certificates.
  if (name !== 'Bun') {
    test('does not count a forged certificate on a resumed session of a server of the host', async () => {
      const server = await start({ tls: settings, isOfHost: true })
      expect((await get(server.port, signed)).clientCertificate?.verified).toBe(true)
      const [resumed, seen] = await resume(server.port, forged)
      expect([resumed, seen.clientCertificate?.verified]).toEqual([true, false])
    })
  }

  test('16.9 verifies with new authorities, and a resumed session does not keep the former ones', async () => {
    const server = await start({ tls: settings })
    const agent = agentOf({ maxCachedSessions: 10 })
    expect((await get(server.port, signed, agent)).clientCertificate?.verified).toBe(true)
    expect(await update(server.port, { ...settings, clientAuthorities: otherRoot.pem })).toBe(200)
    expect((await get(server.port, signed, agent)).clientCertificate?.verified).toBe(false)
    expect((await get(server.port, signed, agent)).clientCertificate?.verified).toBe(false)
    expect((await get(server.port, byOther)).clientCertificate?.verified).toBe(true)
    expect(await update(server.port, { ...settings, certificate: 'x' })).toBe(500)
    expect((await get(server.port, byOther)).clientCertificate?.verified).toBe(true)
  })

  test('16.9 a handshake that began with other authorities verifies nothing', async () => {
    const server = await start({ tls: settings })
    const early = await inFlight(server.port, signed)
    await update(server.port, { ...settings, clientAuthorities: otherRoot.pem })
    expect((await early.release()).clientCertificate).toEqual({ der: signed.der, verified: false })
    // Nor does a session that it began.
    for (const agent of [early.agent, early.agent]) {
      expect((await get(server.port, signed, agent)).clientCertificate?.verified).toBe(false)
    }
    const { clientAuthorities, ...withoutAuthorities } = settings
    await update(server.port, withoutAuthorities)
    const late = await inFlight(server.port, byOther)
    await update(server.port, settings)
    expect((await late.release()).clientCertificate).toEqual({ der: byOther.der, verified: false })
  })

  test('16.9 a session lasts when only the certificate of the server is renewed', async () => {
    const server = await start({ tls: settings })
    const agent = agentOf({ maxCachedSessions: 10 })
    const renewed = settingsOf(signedByRoot({ subject: commonName('renewed') }))
    await get(server.port, signed, agent)
    await update(server.port, { ...settings, ...renewed })
    for (const of of [agent, agent, agentOf()]) {
      expect((await get(server.port, signed, of)).clientCertificate?.verified).toBe(true)
    }
  })

  test.each([
    ['the key of another certificate', { key: signed.keyPem }],
    ['half a certificate', { certificate: serverCertificate.pem.slice(0, 300) }],
    ['half a key', { key: serverCertificate.keyPem.slice(0, 80) }],
    ['a second authority that is incomplete', { clientAuthorities: root.pem + otherRoot.pem.slice(0, 200) }],
    ['authorities that are no certificates', { clientAuthorities: root.keyPem }],
  ])('16.9 refuses %s, and keeps its settings', async (_, change) => {
    expect(await update(port(), { ...settings, ...change })).toBe(500)
    expect((await get(port(), signed)).clientCertificate?.verified).toBe(true)
  })

  test('16.8 speaks TLS 1.2 and 1.3 only, with authenticated ciphers', async () => {
    expect(await handshake(port(), {})).toBe('TLSv1.3')
    expect(await handshake(port(), { maxVersion: 'TLSv1.2' })).toBe('TLSv1.2')
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
    await expect(handshake(port(), old)).rejects.toThrow()
    await expect(handshake(port(), { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA' })).rejects.toThrow()
    await expect(handshake(port(), { maxVersion: 'TLSv1.2', ciphers: 'AES128-GCM-SHA256' })).rejects.toThrow()
  })
})
