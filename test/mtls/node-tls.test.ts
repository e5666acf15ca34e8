import { once } from 'node:events'
import { Agent, createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { nodeListener } from '@grantry/adapters/node'
import { afterEach, describe, expect, test } from 'vitest'
import { certificate, commonName, type Issued } from './certificates.ts'
import { current, fetchWith, root, serverCertificate, signedByRoot, withKeys } from './https.ts'
import { clientWith, machineTokens, selfSigned, start } from './parties.ts'

const verifiedOwn = signedByRoot({ subject: commonName('machine') })
const selfSignedOwn = certificate(current)

const clients = [
  clientWith({ tlsClientAuthSubjectDn: 'CN=machine', tlsClientCertificateBoundAccessTokens: true }),
  clientWith({ clientId: 'self-signed', ...selfSigned(selfSignedOwn.jwk) }),
]

let server: Server | undefined
afterEach(async () => {
  server?.closeAllConnections()
  await new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve)))
})

/** Starts a TLS server that requests certificates and accepts any. */
async function listen() {
  const f = await start(clients, {}, { runtime: { now: () => Math.floor(Date.now() / 1000) } })
  const options = { ...withKeys(serverCertificate), ca: root.pem, requestCert: true, rejectUnauthorized: false }
  server = createServer(options, nodeListener(f.provider)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/connect/token`
  const request = async (issued: Issued | undefined, clientId = 'machine', agent?: Agent) => {
    const body = new URLSearchParams({ ...machineTokens, client_id: clientId })
    const response = await fetchWith(issued, agent)(url, { method: 'POST', body })
    return { status: response.status, body: (await response.json()) as { access_token: string } }
  }
  return { f, request }
}

describe('a TLS server on Node.js', () => {
  test('authenticates a client with a certificate of the authority, and binds its token', async () => {
    const { f, request } = await listen()
    const { status, body } = await request(verifiedOwn)
    expect(status).toBe(200)
    expect((await f.provider.inspect(body.access_token)).claims).toMatchObject({
      cnf: { 'x5t#S256': verifiedOwn.thumbprint },
    })
  })

  test('authenticates a client with a self-signed certificate', async () => {
    const { request } = await listen()
    expect((await request(selfSignedOwn, 'self-signed')).status).toBe(200)
  })

  test('refuses a request without a certificate', async () => {
    const { request } = await listen()
    expect((await request(undefined)).status).toBe(401)
    expect((await request(undefined, 'self-signed')).status).toBe(401)
  })

  test('does not accept the names of a certificate that no authority has signed', async () => {
    const { f, request } = await listen()
    const agent = new Agent({ keepAlive: false, maxCachedSessions: 10 })
    const forged = certificate({ subject: commonName('machine'), ...current })
    expect((await request(forged, 'machine', agent)).status).toBe(401)
    // On a resumed session too.
    expect((await request(forged, 'machine', agent)).status).toBe(401)
    expect(f.events.at(-1)).toMatchObject({ reason: 'plugin:mtls:certificate_not_verified' })
  })

  test('reads the certificate of a resumed session', async () => {
    const { request } = await listen()
    const agent = new Agent({ keepAlive: false, maxCachedSessions: 10 })
    const reused: boolean[] = []
    server?.on('secureConnection', (socket) => reused.push(socket.isSessionReused()))
    expect((await request(verifiedOwn, 'machine', agent)).status).toBe(200)
    expect((await request(verifiedOwn, 'machine', agent)).status).toBe(200)
    expect(reused).toEqual([false, true])
  })
})
