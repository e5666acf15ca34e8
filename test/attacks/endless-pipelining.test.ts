/**
 * Attack: one connection pipelines requests without end, while the first waits for a slow store. Each waiting request
 * would hold memory, and no limit on requests in flight would count it.
 *
 * RFC 9112 section 9.3.2: a client may pipeline; it does not define how many requests a server must accept.
 */
import { connect } from 'node:net'
import { type RunningServer, serve } from '@grantry/adapters/node'
import { afterEach, expect, test } from 'vitest'
import { fixture } from '../support/fixture.ts'

let server: RunningServer | undefined
afterEach(() => server?.close(0))

const request = 'GET /.well-known/jwks HTTP/1.1\r\nHost: x\r\n\r\n'

/** A server whose first response waits, and the number of requests that have started. */
async function slow() {
  const { provider } = await fixture()
  let open: () => void = () => undefined
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  let begun = 0
  server = await serve({
    issuer: provider.issuer,
    async fetch(request, connection) {
      begun += 1
      if (begun === 1) await gate
      return provider.fetch(request, connection)
    },
  })
  return { port: server.port, open, begun: () => begun }
}

function send(port: number, text: string) {
  const socket = connect(port, '127.0.0.1')
  let output = ''
  socket.on('data', (data) => {
    output += data
  })
  socket.on('error', () => undefined)
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.write(text)
  return { socket, closed, responses: () => output.split('HTTP/1.1 200').length - 1 }
}

test('closes a connection with hundreds of waiting requests, and serves others', async () => {
  const { port, open, begun } = await slow()
  const attacker = send(port, request.repeat(2000))
  await attacker.closed
  open()
  expect(begun()).toBe(1)
  expect((await fetch(`http://127.0.0.1:${port}/.well-known/jwks`)).status).toBe(200)
})

const lines = (count: number): string => Array.from({ length: count }, (_, index) => `a${index}: b\r\n`).join('')
const withHead = (head: string): string => `GET /.well-known/jwks HTTP/1.1\r\nHost: x\r\n${head}\r\n`

test.each([
  ['900 header lines', withHead(lines(900)), 10],
  ['a header of 12 KB', withHead(`a: ${'x'.repeat(12_000)}\r\n`), 20],
])('1.96 closes a connection with a few waiting requests of %s each', async (_, large, count) => {
  const { port, open, begun } = await slow()
  const attacker = send(port, request + large.repeat(count))
  await attacker.closed
  open()
  expect(begun()).toBe(1)
})

test('1.96 responds to thirty waiting requests with the headers of a browser', async () => {
  const { port, open } = await slow()
  const usual = withHead(`Cookie: ${'x'.repeat(400)}\r\n${lines(15)}`)
  const caller = send(port, usual.repeat(30))
  open()
  await expect.poll(caller.responses).toBeGreaterThanOrEqual(30)
  caller.socket.destroy()
})

test('responds to a hundred waiting requests', async () => {
  const { port, open } = await slow()
  const caller = send(port, request.repeat(100))
  open()
  await expect.poll(caller.responses).toBeGreaterThanOrEqual(100)
  caller.socket.destroy()
})
