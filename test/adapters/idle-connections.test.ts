// How long a connection stays open between two requests: longer than a proxy keeps it, which would otherwise send a request
// on a connection that is being closed.
import { once } from 'node:events'
import type { Server } from 'node:http'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { idleTimeoutOf, timesOf } from '../../packages/adapters/src/http-bridge/bridge-options.ts'
import { type NodeServeOptions, serve } from '../../packages/adapters/src/http-bridge/serve.ts'

async function started(options: NodeServeOptions) {
  const server = await serve('https://id.example.com', async () => new Response('ok'), options)
  onTestFinished(() => server.close(0))
  return server
}

test.each<[string, NodeServeOptions, number]>([
  ['without a proxy', {}, 75],
  ['behind proxies: AWS keeps connections for 60 seconds, Google Cloud for 600', { trustedProxies: 1 }, 620],
  ['by the setting', { trustedProxies: 1, idleTimeout: 300 }, 300],
])('%s', async (_, options, seconds) => {
  const { server, port } = await started(options)
  expect((server as Server).keepAliveTimeout).toBe(seconds * 1000)
  const response = await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'keep-alive' } })
  await response.text()
  expect(response.headers.get('keep-alive')).toBe(`timeout=${seconds}`)
})

test('the head of a request has no more time than the whole', () => {
  expect(timesOf({ requestTimeout: 5 })).toMatchObject({ requestTimeout: 5000, headersTimeout: 5000 })
  expect(timesOf({ requestTimeout: 300 })).toMatchObject({ requestTimeout: 300_000, headersTimeout: 60_000 })
})

test('an idle connection is closed at the end', async () => {
  const { port } = await started({ idleTimeout: 0.2 })
  const socket = connect(port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  let text = ''
  socket.on('data', (part) => {
    text += part
  })
  await once(socket, 'close')
  expect(text).toContain('200 OK')
})

test.each([0, -1, Number.NaN, 3e6])('%j is refused', (idleTimeout) => {
  expect(() => idleTimeoutOf({ idleTimeout })).toThrow('idleTimeout must be a number of seconds above 0')
})

test('a request on an idle connection that is sent while the server closes has a response', async () => {
  const { port, close } = await serve('https://id.example.com', async () => new Response('ok'), {})
  const socket = connect(port, '127.0.0.1')
  const head = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
  socket.write(head)
  await once(socket, 'data')
  const closed = close()
  socket.write(head)
  const [last] = await once(socket, 'data')
  expect(String(last)).toContain('200 OK')
  expect(String(last).toLowerCase()).toContain('connection: close')
  await closed
})
