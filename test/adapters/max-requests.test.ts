/**
 * Attack (by load): more concurrent requests than the server can process. Each would take memory and time in the store,
 * and all would get their responses too late. Beyond `maxRequests`, a request immediately gets 503 with `Retry-After`.
 *
 * Wire contract, section 1: 503 `temporarily_unavailable` with `Retry-After`.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect, type Socket } from 'node:net'
import { nodeListener, type RunningServer, serve } from '@grantry/adapters/node'
import { afterEach, describe, expect, test } from 'vitest'
import { exchange, type Piece } from '../framing/exchange.ts'
import { readResponses } from '../framing/raw-responses.ts'
import { form, get, length, tokenRequest } from '../framing/requests.ts'
import { fixture } from '../support/fixture.ts'

let running: RunningServer | undefined
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await running?.close(0)
  running = undefined
})

/** Creates a provider whose token endpoint waits at a gate and counts the waiting requests. */
async function gated() {
  const { provider } = await fixture()
  let open: () => void = () => undefined
  let inside = 0
  let most = 0
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const fetch: typeof provider.fetch = async (request, connection) => {
    const response = await provider.fetch(request, connection)
    if (!request.url.endsWith('/connect/token')) return response
    inside += 1
    most = Math.max(most, inside)
    await gate
    inside -= 1
    return response
  }
  const servable = { issuer: provider.issuer, fetch }
  return { servable, open: () => open(), inside: () => inside, most: () => most }
}

async function start(maxRequests?: number) {
  const gate = await gated()
  const refused: number[] = []
  running = await serve(gate.servable, {
    ...(maxRequests !== undefined && { maxRequests }),
    onRefused: ({ status }) => refused.push(status),
  })
  const { port } = running
  return { ...gate, port, refused, send: () => exchange(port, [tokenRequest()], { seconds: 60 }) }
}

function expectBusy(text: string): void {
  const [response] = readResponses(text)
  expect(response?.status).toBe(503)
  expect(response?.headers.get('retry-after')).toBe('1')
  expect(response?.headers.get('cache-control')).toBe('no-store')
  expect(response?.headers.get('content-type')).toBe('application/json')
  expect(JSON.parse(response?.body ?? '')).toMatchObject({ error: 'temporarily_unavailable' })
}
const expectGranted = (text: string): void => expect(readResponses(text)).toMatchObject([{ status: 200 }])

describe('maxRequests', () => {
  test('a request over the limit gets 503 immediately, while the others are in progress', async () => {
    const server = await start(3)
    const held = Array.from({ length: 3 }, server.send)
    await expect.poll(() => server.inside()).toBe(3)
    for (let time = 0; time < 5; time += 1) expectBusy((await server.send()).text)
    server.open()
    for (const { text } of await Promise.all(held)) expectGranted(text)
    expect(server.most()).toBe(3)
    expectGranted((await server.send()).text)
  })

  test('is 1,000 unless set', async () => {
    const server = await start()
    const held = Array.from({ length: 1000 }, server.send)
    await expect.poll(() => server.inside()).toBe(1000)
    expectBusy((await server.send()).text)
    server.open()
    for (const { text } of await Promise.all(held)) expectGranted(text)
  })

  test('applies to a listener in a server of the host', async () => {
    const gate = await gated()
    const host = createServer(nodeListener(gate.servable, { maxRequests: 1 })).listen(0, '127.0.0.1')
    await once(host, 'listening')
    const { port } = host.address() as AddressInfo
    const held = exchange(port, [tokenRequest()])
    await expect.poll(() => gate.inside()).toBe(1)
    expectBusy((await exchange(port, [tokenRequest()])).text)
    gate.open()
    expectGranted((await held).text)
    host.close()
  })

  test('frees the slot of a client that disconnects before the response', async () => {
    const server = await start(1)
    for (let time = 0; time < 3; time += 1) {
      const socket = connect(server.port, '127.0.0.1')
      sockets.push(socket)
      socket.on('error', () => undefined)
      socket.write(tokenRequest())
      if (time === 0) await expect.poll(() => server.inside()).toBe(1)
      socket.destroy()
    }
    server.open()
    await expect.poll(() => server.inside()).toBe(0)
    expectGranted((await server.send()).text)
  })

  test('frees the slot after every kind of response', async () => {
    const server = await start(1)
    server.open()
    const wrong = [
      tokenRequest({ as: ['web', 'wrong'] }),
      tokenRequest({ target: '/nothing' }),
      tokenRequest({ target: '*' }),
      tokenRequest({ lengths: [length(1_000_000)], body: '' }),
      tokenRequest({ more: ['Authorization: x'] }),
      get('/connect/token'),
      get('/.well-known/jwks').replace('GET', 'HEAD'),
    ]
    for (const request of [...wrong, ...wrong]) {
      const { text } = await exchange(server.port, [request])
      expect(text).not.toContain(' 503 ')
    }
    expectGranted((await server.send()).text)
  })

  // Otherwise a few idle sockets would lock out all other clients.
  test('does not count requests whose bodies are still arriving', async () => {
    const server = await start(2)
    server.open()
    for (let time = 0; time < 10; time += 1) {
      const socket = connect(server.port, '127.0.0.1')
      sockets.push(socket)
      socket.on('error', () => undefined)
      socket.write(tokenRequest({ body: form.slice(0, 5), lengths: [length(form.length)] }))
    }
    for (let time = 0; time < 3; time += 1) expectGranted((await server.send()).text)
  })

  test('a request that lost its slot while its body arrived gets 503 and is reported', async () => {
    const server = await start(1)
    function* inTwoParts(): Generator<Piece> {
      yield tokenRequest({ body: form.slice(0, 5), lengths: [length(form.length)] })
      while (server.inside() === 0) yield 10
      yield form.slice(5)
    }
    const begun = running && once(running.server, 'request')
    const late = exchange(server.port, inTwoParts())
    await begun
    const held = server.send()
    // The provider has refused the body that it could not read, and its response also waits at the gate.
    await expect.poll(() => server.inside()).toBe(2)
    server.open()
    expectBusy((await late).text)
    expect(server.refused).toEqual([503])
    expectGranted((await held).text)
  })

  test('frees the slot of a request that got its response before its body', async () => {
    let reading: Promise<unknown> = Promise.resolve()
    const early = async (request: Request): Promise<Response> => {
      if (request.method === 'POST') reading = request.text()
      return new Response('early')
    }
    running = await serve({ issuer: 'https://id.example.com', fetch: early }, { maxRequests: 1 })
    const { port } = running
    for (let time = 0; time < 3; time += 1) {
      const socket = connect(port, '127.0.0.1')
      sockets.push(socket)
      socket.write(tokenRequest({ body: form.slice(0, 5), lengths: [length(form.length)], keep: true }))
      await once(socket, 'data')
      socket.write(form.slice(5))
      await Promise.allSettled([reading])
      expect(readResponses((await exchange(port, [get('/')])).text)).toMatchObject([{ status: 200 }])
    }
  })

  test('applies to pipelined requests, with responses in order', async () => {
    const server = await start(1)
    const first = server.send()
    await expect.poll(() => server.inside()).toBe(1)
    const busy = exchange(server.port, [tokenRequest({ keep: true }) + tokenRequest()])
    const responses = readResponses((await busy).text)
    expect(responses.map(({ status }) => status).every((status) => status === 503)).toBe(true)
    expectBusy((await busy).text)
    server.open()
    expectGranted((await first).text)
  })

  test.each([0, -1, 1.5, Number.NaN, '10'])('rejects %j', async (maxRequests) => {
    const { servable } = await gated()
    expect(() => nodeListener(servable, { maxRequests: maxRequests as number })).toThrow(TypeError)
    await expect(
      serve(servable, { maxRequests: maxRequests as number }).then((server) => server.close(0)),
    ).rejects.toThrow(TypeError)
  })
})
