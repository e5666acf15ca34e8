/**
 * Attack: endless bodies on many connections. They do not count towards `maxRequests`, because slow clients must not
 * block others. So bodies have a limit of their own, and connections another.
 *
 * Wire contract, section 1: 503 `temporarily_unavailable` with `Retry-After`.
 */
import { connect, type Socket } from 'node:net'
import { bunHandler } from '@grantry/adapters/bun'
import { type RunningServer, type ServeOptions, serve } from '@grantry/adapters/node'
import { afterEach, describe, expect, test } from 'vitest'
import { exchange } from '../framing/exchange.ts'
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

async function start(options: ServeOptions) {
  const { provider } = await fixture()
  const refused: number[] = []
  const server = await serve(provider, { ...options, onRefused: ({ status }) => refused.push(status) })
  running = server
  let begun = 0
  server.server.on('request', () => {
    begun += 1
  })
  return { port: server.port, refused, begun: () => begun }
}

function open(port: number, text: string) {
  const socket = connect(port, '127.0.0.1')
  sockets.push(socket)
  let received = ''
  socket.setEncoding('latin1').on('data', (data) => {
    received += data
  })
  socket.on('error', () => undefined)
  socket.write(text)
  return { socket, received: () => received, closed: () => socket.closed }
}

const half = tokenRequest({ body: form.slice(0, 5), lengths: [length(form.length)] })

describe('maxBodies', () => {
  test('1.97 refuses the oldest bodies with 503, closes their connections and serves the others', async () => {
    const { port, refused, begun } = await start({ maxBodies: 3 })
    const held: ReturnType<typeof open>[] = []
    for (let count = 1; count <= 5; count += 1) {
      held.push(open(port, half))
      await expect.poll(begun).toBe(count)
    }
    const [first, second, ...others] = held
    for (const oldest of [first, second]) {
      await expect.poll(() => oldest?.closed()).toBe(true)
      const [response] = readResponses(oldest?.received() ?? '')
      expect(response).toMatchObject({ status: 503 })
      expect(response?.headers.get('retry-after')).toBe('1')
      expect(response?.headers.get('connection')).toBe('close')
      expect(response?.body).toContain('"temporarily_unavailable"')
    }
    expect(refused).toEqual([503, 503])
    for (const { socket } of others) socket.write(form.slice(5))
    for (const { received } of others) await expect.poll(received).toContain('access_token')
  })

  test('1.97 bodies that an attacker holds open do not lock out other clients', async () => {
    const { port } = await start({ maxBodies: 2, maxRequests: 2 })
    for (let count = 0; count < 20; count += 1) open(port, half)
    for (let count = 0; count < 5; count += 1) {
      const { text } = await exchange(port, [half, 20, form.slice(5)])
      expect(readResponses(text)).toMatchObject([{ status: 200 }])
    }
  })

  test('does not count bodies that arrive with their heads', async () => {
    const { port, refused } = await start({ maxBodies: 1 })
    const all = await Promise.all(Array.from({ length: 50 }, () => exchange(port, [tokenRequest()])))
    for (const { text } of all) expect(readResponses(text)).toMatchObject([{ status: 200 }])
    expect(refused).toEqual([])
  })

  const request = (body?: BodyInit): Request =>
    new Request('http://127.0.0.1/', { method: 'POST', ...(body && { body }), duplex: 'half' } as RequestInit)
  const endless = (): ReadableStream => new ReadableStream({ start: (to) => to.enqueue(new Uint8Array([1])) })
  const server = { requestIP: () => null, stop: () => undefined }

  test('applies to Bun and Deno too', async () => {
    const refused: number[] = []
    const handler = bunHandler(
      { fetch: async (request) => new Response(await request.text()) },
      { maxBodies: 1, onRefused: ({ status }) => refused.push(status) },
    )
    const oldest = handler(request(endless()), server)
    void handler(request(endless()), server)
    const response = await oldest
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('1')
    expect(response.headers.get('connection')).toBe('close')
    expect(refused).toEqual([503])
  })

  test('maxRequests applies to Bun and Deno too', async () => {
    let open: () => void = () => undefined
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const handler = bunHandler({ fetch: () => gate.then(() => new Response('done')) }, { maxRequests: 2 })
    const held = [handler(request(), server), handler(request(), server)]
    expect((await handler(request(), server)).status).toBe(503)
    open()
    for (const response of await Promise.all(held)) expect(await response.text()).toBe('done')
    expect((await handler(request(), server)).status).toBe(200)
  })
})

describe('maxConnections', () => {
  test('1.97 closes and reports a connection over the limit, and serves the next when one has closed', async () => {
    const { port, refused } = await start({ maxConnections: 2 })
    const jwks = get('/.well-known/jwks').replace('Connection: close\r\n', '')
    const held = [open(port, jwks), open(port, jwks)]
    for (const { received } of held) await expect.poll(received).toContain('200 OK')
    const refusedOne = open(port, jwks)
    await expect.poll(refusedOne.closed).toBe(true)
    expect(refusedOne.received()).toBe('')
    expect(refused).toEqual([503])
    held[0]?.socket.destroy()
    await expect.poll(async () => (await exchange(port, [get('/.well-known/jwks')])).text).toContain('200 OK')
  })

  test('defaults to 10,000', async () => {
    await start({})
    expect(running?.server.maxConnections).toBe(10_000)
  })
})

test.each(['maxBodies', 'maxConnections'])(
  '%s: rejects a value that is not a whole number of at least 1',
  async (name) => {
    const { provider } = await fixture()
    for (const value of [0, -1, 1.5, Number.NaN, '10']) {
      await expect(serve(provider, { [name]: value }).then((server) => server.close(0))).rejects.toThrow(
        `${name} must be a whole number of at least 1`,
      )
    }
  },
)
