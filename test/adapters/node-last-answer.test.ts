/**
 * Attack: a connection whose last answer was given stays open for a second, so that the answer arrives (RFC 9112 section 9.6). Whoever sends on behind it wants to fill the process,
 * or to have something done that nobody hears of.
 */
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { nodeMiddleware, serve } from '@grantry/adapters/node'
import { afterEach, expect, test } from 'vitest'
import { fixture } from '../support/fixture.ts'

const ends: (() => unknown)[] = []
afterEach(() => Promise.all(ends.splice(0).map((end) => end())))

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

/** Sends the first text, and the other so many times when the answer to it is there; resolves with what came back when the connection has ended. */
function sendBehind(port: number, first: string, behind: string, times: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    let answer = ''
    socket.setEncoding('latin1')
    socket.on('data', (data) => {
      answer += data
    })
    socket.on('end', async () => {
      for (let sent = 0; sent < times && !socket.destroyed; sent += 1) {
        socket.write(behind)
        await pause(2)
      }
      socket.end()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(answer))
    socket.write(first)
  })
}

/** Targets of all requests that Node makes objects of. */
function targetsOf(server: Server): readonly (string | undefined)[] {
  const targets: (string | undefined)[] = []
  server.on('request', ({ url }) => targets.push(url))
  return targets
}

test('what comes behind it is not even parsed, and the answer is there', async () => {
  const { server, port, close } = await serve((await fixture()).provider)
  ends.push(() => close(0))
  const targets = targetsOf(server)
  const answer = await sendBehind(
    port,
    'GET /first HTTP/1.1\r\nHost: a b\r\n\r\n',
    'GET /behind HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(100),
    50,
  )
  expect(answer).toMatch(/^HTTP\/1\.1 400 /u)
  expect(targets).toEqual(['/first'])
})

test('nor are requests to a route of the host, on a connection that the provider has served', async () => {
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
  const answer = await sendBehind(port, get('/.well-known/jwks') + get('/last'), get('/transfer'), 3)
  expect(answer).toMatch(/the last$/u)
  expect(targets).toEqual(['/.well-known/jwks', '/last'])
})
