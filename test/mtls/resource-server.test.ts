import { once } from 'node:events'
import { Agent, createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { requireToken, tokenOf } from '../../packages/resource-server/src/express.ts'
import { createResourceServer } from '../../packages/resource-server/src/index.ts'
import { commonName, type Issued } from './certificates.ts'
import { fetchWith, root, serverCertificate, signedByRoot, withKeys } from './https.ts'
import { clientWith, issuer, presented, request, start } from './parties.ts'

// Tokens of Grantry that are bound to a certificate, at an API with TLS.

const [ownCertificate, otherCertificate] = [
  signedByRoot({ subject: commonName('machine') }),
  signedByRoot({ subject: commonName('other') }),
]
const clients = [clientWith({ tlsClientAuthSubjectDn: 'CN=machine', tlsClientCertificateBoundAccessTokens: true })]

let server: Server
let token: string

beforeAll(async () => {
  const f = await start(clients, {}, { runtime: { now: () => Math.floor(Date.now() / 1000) } })
  token = String((await request(f, presented(ownCertificate))).body.access_token)
  const api = createResourceServer({
    issuer,
    audience: 'https://api1.example.com',
    requiredBinding: 'certificate',
    clientCertificate: ({ source }) => (source as { socket: TLSSocket }).socket.getPeerCertificate().raw,
    fetch: (url, init) => f.provider.fetch(new Request(url, init)),
  })
  const check = requireToken(api, { scopes: 'api1' })
  const options = { ...withKeys(serverCertificate), ca: root.pem, requestCert: true, rejectUnauthorized: false }
  server = createServer(options, (req, res) => {
    check(req, res, (error) => res.end(error === undefined ? String(tokenOf(req).claims.client_id) : 'failed'))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const call = (certificate: Issued | undefined, agent?: Agent): Promise<Response> =>
  fetchWith(certificate, agent)(`https://127.0.0.1:${(server.address() as AddressInfo).port}/orders`, {
    headers: { authorization: `Bearer ${token}` },
  })

test('the certificate of the token is accepted, also on a resumed session', async () => {
  const agent = new Agent({ keepAlive: false, maxCachedSessions: 10 })
  const reused: boolean[] = []
  server.on('secureConnection', (socket) => reused.push(socket.isSessionReused()))
  for (let times = 0; times < 2; times++) {
    const response = await call(ownCertificate, agent)
    expect([response.status, await response.text()]).toEqual([200, 'machine'])
  }
  expect(reused).toEqual([false, true])
})

test.each([
  ['another certificate', otherCertificate],
  ['no certificate', undefined],
])('%s is refused', async (_, certificate) => {
  const response = await call(certificate)
  expect(response.status).toBe(401)
  expect(response.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token"/u)
})
