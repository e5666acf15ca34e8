/** The lazy request and response replace those of the platform: a handler of the host sees the same behavior. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { nodeListener, nodeMiddleware, nodeRuntime, type RunningServer, serve } from '@grantry/adapters/node'
import { afterEach, describe, expect, test } from 'vitest'
import { fixture } from '../support/fixture.ts'

const issuer = 'https://id.example.com'
let server: RunningServer | undefined
afterEach(async () => {
  await server?.close(0)
  server = undefined
})

/** Serves the handler and returns a URL of the server. */
async function served(handler: (request: Request) => Promise<Response>): Promise<string> {
  server = await serve({ issuer, fetch: handler })
  return `http://${server.host}:${server.port}/path?a=1`
}

/** Returns the result of `read` for a request that the server receives. */
async function seen<T>(read: (request: Request) => Promise<T>, init: RequestInit = {}): Promise<T> {
  let result: { value: T } | undefined
  const url = await served(async (request) => {
    result = { value: await read(request) }
    return new Response('done')
  })
  const response = await fetch(url, init)
  expect(await response.text()).toBe('done')
  if (result === undefined) throw new Error('the handler was not called')
  return result.value
}

const form = { method: 'POST', body: new URLSearchParams({ a: 'ü', b: '2' }) }
const large = { method: 'POST', body: 'x'.repeat(300_000) }

describe('a lazy request', () => {
  test('has the origin of the issuer, whatever Host is, and the path and query of the target', async () => {
    expect(await seen(async ({ url, method }) => [url, method])).toEqual(['https://id.example.com/path?a=1', 'GET'])
  })

  test('is an instance of Request with Headers, and has no body for GET', async () => {
    const read = async (request: Request) => [
      request instanceof Request,
      request.headers instanceof Headers,
      request.body,
    ]
    expect(await seen(read)).toEqual([true, true, null])
  })

  test('has headers that can be iterated and copied', async () => {
    const [list, copy, absent] = await seen(
      async ({ headers }) => [[...headers], new Headers([...headers]).get('X-One'), headers.get('constructor')],
      { headers: { 'x-one': '1', 'x-two': '2' } },
    )
    expect(list).toContainEqual(['x-two', '2'])
    expect(copy).toBe('1')
    expect(absent).toBeNull()
  })

  test.each([
    ['text()', async (request: Request) => request.text(), 'a=%C3%BC&b=2'],
    ['formData()', async (request: Request) => (await request.formData()).get('a'), 'ü'],
    ['arrayBuffer()', async (request: Request) => (await request.arrayBuffer()).byteLength, 12],
    [
      'a clone',
      async (request: Request) => [await request.clone().text(), (await request.text()).length],
      ['a=%C3%BC&b=2', 12],
    ],
    ['iteration of its body', async ({ body }: Request) => (await new Response(body).text()).length, 12],
  ])('is read by %s', async (_, read, expected) => {
    expect(await seen<unknown>(read, form)).toEqual(expected)
  })

  test('reads a large body completely', async () => {
    const readAll = async ({ body }: Request) => {
      const reader = body?.getReader()
      let length = 0
      for (let read = await reader?.read(); read?.done === false; read = await reader?.read())
        length += read.value.length
      return length
    }
    expect(await seen(readAll, large)).toBe(300_000)
    await server?.close(0)
    expect(await seen(async (request) => (await request.text()).length, large)).toBe(300_000)
  })

  test('reports that its body was used, and rejects a second read', async () => {
    const read = async (request: Request) => {
      const before = request.bodyUsed
      const reader = request.body?.getReader()
      await reader?.read()
      const again = await request.text().then(
        () => 'read',
        () => 'refused',
      )
      return [before, request.bodyUsed, request.body?.locked, again]
    }
    expect(await seen(read, form)).toEqual([false, true, true, 'refused'])
  })

  test('aborts its signal when the client disconnects, not when its body was read', async () => {
    const states: boolean[] = []
    let aborted: Promise<unknown> | undefined
    const url = await served(async (request) => {
      await request.text()
      await new Promise(setImmediate)
      states.push(request.signal.aborted)
      aborted = once(request.signal, 'abort')
      await aborted
      return new Response('never received')
    })
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab')
    await expect.poll(() => aborted !== undefined).toBe(true)
    socket.destroy()
    await aborted
    expect(states).toEqual([false])
  })
})

describe('responses', () => {
  test('are sent with every kind of body: text, bytes, a stream, none', async () => {
    const stream = () =>
      new ReadableStream({
        start(controller) {
          for (const piece of ['one ', 'two ', 'three']) controller.enqueue(new TextEncoder().encode(piece))
          controller.close()
        },
      })
    const bodies = ['text', new Uint8Array([97, 98]), stream(), null]
    const url = await served(async () => new Response(bodies.shift() as string | null, { status: 200 }))
    const texts = []
    for (let time = 0; time < 4; time += 1) texts.push(await (await fetch(url)).text())
    expect(texts).toEqual(['text', 'ab', 'one two three', ''])
  })

  test('keep several cookies separate', async () => {
    const headers = new Headers([
      ['set-cookie', 'a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT'],
      ['set-cookie', 'b=2'],
    ])
    const url = await served(async () => new Response('x', { headers }))
    expect((await fetch(url)).headers.getSetCookie()).toEqual(['a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT', 'b=2'])
  })

  test('close the connection when their body fails, so that the truncation is visible', async () => {
    let pulls = 0
    const body = () =>
      new ReadableStream({
        pull(controller) {
          pulls += 1
          if (pulls > 3) throw new Error('the source failed')
          controller.enqueue(new TextEncoder().encode('piece '))
        },
      })
    const url = await served(async () => new Response(body()))
    await expect(fetch(url).then((response) => response.text())).rejects.toThrow()
  })

  test('are 500 without details when the handler throws', async () => {
    const url = await served(async () => {
      throw new Error('at /secret/path.js:1')
    })
    const response = await fetch(url)
    expect([response.status, await response.text()]).toEqual([500, '{"error":"server_error"}'])
  })

  test('of nodeRuntime are instances of Response that can be read, cloned and given headers', async () => {
    const Lazy = nodeRuntime.Response as unknown as typeof Response
    const response = new Lazy('{"a":1}', { status: 201, headers: { 'x-one': '1' } })
    expect(response).toBeInstanceOf(Response)
    expect([response.status, response.ok, response.headers.get('x-one')]).toEqual([201, true, '1'])
    response.headers.set('x-two', '2')
    const url = await served(async () => response.clone())
    const received = await fetch(url)
    expect([received.status, received.headers.get('x-two'), await received.json()]).toEqual([201, '2', { a: 1 }])
    expect(await response.json()).toEqual({ a: 1 })
  })

  test('of nodeRuntime are sent with changed headers', async () => {
    const Lazy = nodeRuntime.Response as unknown as typeof Response
    const url = await served(async () => {
      const response = new Lazy('x', { status: 200, headers: { 'x-one': '1' } })
      response.headers.set('x-one', 'changed')
      return response
    })
    expect((await fetch(url)).headers.get('x-one')).toBe('changed')
  })
})

describe('a middleware', () => {
  test('passes other requests on, even with a read body, and reports a token request whose body was read', async () => {
    const { provider } = await fixture()
    const middleware = nodeMiddleware(provider)
    const host = createServer(async (req, res) => {
      for await (const _ of req);
      middleware(req, res, (error) => {
        res.statusCode = error === undefined ? 404 : 500
        res.end(error instanceof Error ? error.message : 'not ours')
      })
    }).listen(0, '127.0.0.1')
    await once(host, 'listening')
    const base = `http://127.0.0.1:${(host.address() as AddressInfo).port}`
    const post = async (path: string) =>
      (await fetch(base + path, { method: 'POST', body: new URLSearchParams('a=1') })).text()
    expect(await post('/other')).toBe('not ours')
    expect(await post('/connect/token')).toMatch(/mount the provider before any body parser/u)
    host.close()
  })

  test('mounted under a path uses the full target', async () => {
    const { provider } = await fixture()
    const host = createServer((req, res) => {
      Object.assign(req, { originalUrl: req.url, url: '/' })
      nodeListener(provider)(req, res)
    }).listen(0, '127.0.0.1')
    await once(host, 'listening')
    const { port } = host.address() as AddressInfo
    expect((await fetch(`http://127.0.0.1:${port}/.well-known/jwks`)).status).toBe(200)
    host.close()
  })
})
