/**
 * Attack: clients of a TLS server that present certificates which no authority has signed, on resumed sessions too, and
 * connections that stall in the handshake or in a request. On every runtime, the adapter accepts only what it has verified,
 * and closes what takes too long.
 */
import { writeFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { connect as connectPlain } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import type { TlsSettings } from '@grantry/adapters/node'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Program, startProgram } from '../contract/program.ts'
import { authority, certificate, commonName, type Issued } from '../mtls/certificates.ts'
import { current, fetchWith, root, serverCertificate, signedByRoot } from '../mtls/https.ts'
import { bundle } from '../support/bundle.ts'
import { sharedDirectory } from '../support/directory.ts'
import { describeWithRuntime, runtimeExecutable } from '../support/runtime-describe.ts'
import { describeSideBySide } from '../support/side-by-side.ts'

const bun = runtimeExecutable('.bin/bun')
const deno = runtimeExecutable('.bin/deno')
const runtimes = [
  {
    name: 'Node.js',
    command: [process.execPath],
    defineSuite: (define: () => void) => describeSideBySide('Node.js', define),
  },
  { name: 'Bun', command: [bun], defineSuite: (define: () => void) => describeWithRuntime('Bun', bun, define) },
  {
    name: 'Deno',
    command: [deno, 'run', '--allow-all', '--no-config', '--no-lock'],
    defineSuite: (define: () => void) => describeWithRuntime('Deno', deno, define),
  },
]

const settingsOf = ({ pem, keyPem }: Issued): TlsSettings => ({ certificate: pem, key: keyPem })
const settings = { ...settingsOf(serverCertificate), requestCertificates: true, clientAuthorities: root.pem }
const otherRoot = certificate({ subject: commonName('Other root'), extensions: authority, ...current })

const signed = signedByRoot({ subject: commonName('machine') })
const forged = certificate({ subject: commonName('machine'), ...current })
const byOther = certificate({ by: otherRoot, subject: commonName('machine'), ...current })

interface Seen {
  readonly clientAddress?: string
  readonly clientCertificate?: { readonly der: string; readonly verified: boolean }
  readonly refused: readonly number[]
}

const agentOf = (options: object = {}): Agent => new Agent({ keepAlive: false, maxCachedSessions: 0, ...options })

async function get(port: number, own?: Issued, agent: Agent = agentOf(), path = '/'): Promise<Seen> {
  const response = await fetchWith(own, agent)(`https://127.0.0.1:${port}${path}`)
  return (await response.json()) as Seen
}

const update = async (port: number, tls: TlsSettings): Promise<number> => {
  const url = `https://127.0.0.1:${port}/update`
  return (await fetchWith(undefined, agentOf())(url, { method: 'POST', body: JSON.stringify(tls) })).status
}

/** Opens a connection and sends a text. Resolves to what arrived, and the milliseconds until the end. */
function stall(port: number, text: string | undefined, options: ConnectionOptions = {}) {
  const begun = performance.now()
  return new Promise<{ readonly text: string; readonly took: number }>((resolve) => {
    let received = ''
    const socket =
      text === undefined
        ? connectPlain(port, '127.0.0.1')
        : connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options }, () => socket.write(text))
    socket.on('data', (data) => {
      received += String(data)
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve({ text: received, took: performance.now() - begun }))
  })
}

/** Resumes a session of the certificate. Returns whether it was resumed, and what the server saw. */
async function resume(port: number, own: Issued): Promise<readonly [boolean, Seen]> {
  const agent = agentOf({ maxCachedSessions: 10 })
  await get(port, own, agent)
  let resumed = false
  const create = agent.createConnection.bind(agent)
  agent.createConnection = (options, callback) => {
    const socket = create(options, callback) as TLSSocket
    socket.once('secureConnect', () => {
      resumed = socket.isSessionReused()
    })
    return socket
  }
  const seen = await get(port, own, agent)
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

for (const { name, command, defineSuite } of runtimes) {
  defineSuite(() => {
    const directory = sharedDirectory('tls')
    const running: Program[] = []
    let program = ''

    /** Starts a server. Its runtime trusts the other root as it trusts public authorities. */
    async function start(options: object): Promise<Program> {
      const file = join(directory, `${name}-${running.length}.json`)
      writeFileSync(file, JSON.stringify(options))
      const trusted = join(directory, 'other-root.pem')
      writeFileSync(trusted, otherRoot.pem)
      const [executable = '', ...parameters] = command
      const environment = [`NODE_EXTRA_CA_CERTS=${trusted}`, `DENO_CERT=${trusted}`]
      const server = await startProgram('env', [...environment, executable, ...parameters, program, file])
      running.push(server)
      return server
    }
    let port = 0
    beforeAll(async () => {
      program = await bundle(new URL('./programs/tls-server.ts', import.meta.url))
      port = (await start({ tls: settings, requestTimeout: 1 })).port
    }, 60_000)
    afterAll(() => Promise.all(running.map((server) => server.stop())))

    test('passes the certificate of the client, whether an authority has signed it, and the address', async () => {
      expect(await get(port, signed)).toMatchObject({
        clientAddress: '127.0.0.1',
        clientCertificate: { der: signed.der, verified: true },
      })
      expect((await get(port, forged)).clientCertificate).toEqual({ der: forged.der, verified: false })
      expect((await get(port)).clientCertificate).toBeUndefined()
    })

    test('16.10 does not count a certificate of an authority that only the runtime trusts', async () => {
      expect((await get(port, byOther)).clientCertificate).toEqual({ der: byOther.der, verified: false })
      const { clientAuthorities, ...withoutAuthorities } = settings
      const other = await start({ tls: withoutAuthorities })
      expect((await get(other.port, byOther)).clientCertificate).toEqual({ der: byOther.der, verified: false })
      expect((await get(other.port, signed)).clientCertificate).toEqual({ der: signed.der, verified: false })
    })

    test('16.10 does not count a forged certificate on a resumed session, and counts a signed one', async () => {
      const [resumed, seen] = await resume(port, forged)
      expect([resumed, seen.clientCertificate]).toEqual([true, { der: forged.der, verified: false }])
      const [again, afterwards] = await resume(port, signed)
      expect([again, afterwards.clientCertificate]).toEqual([true, { der: signed.der, verified: true }])
    })

    // On Bun, the sockets of `node:https` have no certificates.
    if (name !== 'Bun') {
      test('does not count a forged certificate on a resumed session of a server of the host', async () => {
        const server = await start({ tls: settings, own: true })
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

    test('16.8 speaks TLS 1.2 and 1.3 only, with authenticated ciphers', async () => {
      expect(await handshake(port, {})).toBe('TLSv1.3')
      expect(await handshake(port, { maxVersion: 'TLSv1.2' })).toBe('TLSv1.2')
      const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
      await expect(handshake(port, old)).rejects.toThrow()
      await expect(handshake(port, { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA' })).rejects.toThrow()
      await expect(handshake(port, { maxVersion: 'TLSv1.2', ciphers: 'AES128-GCM-SHA256' })).rejects.toThrow()
    })

    test('closes connections that stall', async () => {
      const head = 'GET / HTTP/1.1\r\nHost: x\r\n'
      const stalls = [
        ['without a handshake', undefined, ''],
        ['without a request', '', ''],
        ['with half a head', head, '408'],
        ['with half a body', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n{', ''],
        // Node.js and Deno keep it open for 5 seconds.
        ...(name === 'Bun' ? [['idle after a response', `${head}\r\n`, '200'] as const] : []),
      ] as const
      const ends = stalls.map(async ([what, text, status]) => {
        const { text: received, took } = await stall(port, text)
        expect(received, what).toContain(status)
        expect(took, what).toBeGreaterThan(800)
      })
      await Promise.all(ends)
    })

    test('serves several requests on one connection', async () => {
      const agent = agentOf({ keepAlive: true, maxSockets: 1 })
      for (const own of [signed, signed, signed]) {
        expect((await get(port, own, agent)).clientCertificate?.verified).toBe(true)
      }
      agent.destroy()
    })

    test('closes connections over the limit', async () => {
      const server = await start({ tls: settings, maxConnections: 2 })
      const idle = [stall(server.port, ''), stall(server.port, '')]
      await sleep(300)
      expect((await stall(server.port, '')).took).toBeLessThan(1000)
      await server.stop()
      await Promise.all(idle)
    })

    test('ends idle connections and completes requests when it closes', async () => {
      const server = await start({ tls: settings })
      const idle = stall(server.port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
      const withoutHandshake = stall(server.port, undefined)
      const slow = get(server.port, signed, agentOf(), '/slow')
      await sleep(200)
      await get(server.port, undefined, agentOf(), '/close')
      expect((await slow).clientCertificate?.verified).toBe(true)
      await Promise.all([idle, withoutHandshake])
      await vi.waitFor(() => expect(server.console()).toContain('closed'))
    })
  })
}
