/**
 * Attack: after its last response, a connection stays open for a second so that the response arrives (RFC 9112 section
 * 9.6). An attacker keeps sending requests, to exhaust the memory or to have requests processed without a response.
 */
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { nodeMiddleware, serve } from '@grantry/adapters/node'
import { afterEach, expect, test } from 'vitest'
import { fixture } from '../support/fixture.ts'
import { pause } from '../support/pause.ts'

const ends: (() => unknown)[] = []
afterEach(() => Promise.all(ends.splice(0).map((end) => end())))

/** Sends `first`, then `behind` several times after the server half-closed. Resolves with everything received. */
function sendBehind(port: number, first: string, behind: string, times: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    let response = ''
    socket.setEncoding('latin1')
    socket.on('data', (data) => {
      response += data
    })
    socket.on('end', async () => {
      for (let sent = 0; sent < times && !socket.destroyed; sent += 1) {
        socket.write(behind)
        await pause(2)
      }
      socket.end()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(response))
    socket.write(first)
  })
}

/** Collects the targets of all requests that Node parses. */
function targetsOf(server: Server): readonly (string | undefined)[] {
  const targets: (string | undefined)[] = []
  server.on('request', ({ url }) => targets.push(url))
  return targets
}

test('the last response arrives, and later requests are not parsed', async () => {
  const { server, port, close } = await serve((await fixture()).provider)
  ends.push(() => close(0))
  const targets = targetsOf(server)
  const response = await sendBehind(
    port,
    'GET /first HTTP/1.1\r\nHost: a b\r\n\r\n',
    'GET /behind HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(100),
    50,
  )
  expect(response).toMatch(/^HTTP\/1\.1 400 /u)
  expect(targets).toEqual(['/first'])
})

test('the same holds after a response of the host on a connection that the provider has used', async () => {
  const { provider } = await fixture()
  const middleware = nodeMiddleware(provider)
  const server = createServer((req, res) =>
    middleware(req, res, () => {
      res.setHeader('connection', 'close')
      res.end('the last')
    }),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => new Promise((resolve) => server.close(resolve)))
  const targets = targetsOf(server)
  const { port } = server.address() as AddressInfo
  const get = (target: string): string => `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`
  const response = await sendBehind(port, get('/.well-known/jwks') + get('/last'), get('/transfer'), 3)
  expect(response).toMatch(/the last$/u)
  expect(targets).toEqual(['/.well-known/jwks', '/last'])
})
