// Failures are never silent: `onError` gets every error that the host's code throws. The client gets no details.
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { bunHandler } from '@grantry/adapters/bun'
import { denoHandler } from '@grantry/adapters/deno'
import { nodeListener, nodeMiddleware, type ServeOptions, serve } from '@grantry/adapters/node'
import { afterEach, describe, expect, test, vi } from 'vitest'

const ends: (() => unknown)[] = []
afterEach(async () => {
  vi.restoreAllMocks()
  for (const end of ends.splice(0)) await end()
})

type Fetch = (request: Request) => Promise<Response>
type Options = Pick<ServeOptions, 'onError' | 'onRefused' | 'onWarning'>

const failing: Fetch = async () => {
  throw new Error('hunter2')
}
const issuer = 'http://127.0.0.1'

async function listening(listener: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/page?x=1`
}

/** Sends one GET request through each adapter and returns the response. */
const adapters: Readonly<Record<string, (fetch: Fetch, options: Options) => Promise<Response>>> = {
  'serve on Node.js': async (handler, options) => {
    const { port, close } = await serve({ issuer, fetch: handler }, options)
    ends.push(() => close(0))
    return fetch(`http://127.0.0.1:${port}/page?x=1`)
  },
  nodeListener: async (handler, options) => fetch(await listening(nodeListener({ issuer, fetch: handler }, options))),
  nodeMiddleware: async (handler, options) => {
    const middleware = nodeMiddleware({ issuer, fetch: handler, route: () => handler }, options)
    return fetch(await listening((req, res) => middleware(req, res, () => res.end())))
  },
  bunHandler: (handler, options) =>
    bunHandler({ fetch: handler }, options)(new Request('http://127.0.0.1/page?x=1'), {
      requestIP: () => null,
      stop: () => undefined,
    }),
  denoHandler: (handler, options) =>
    denoHandler({ fetch: handler }, options)(new Request('http://127.0.0.1/page?x=1'), { remoteAddr: {} }),
}

describe.each(Object.entries(adapters))('%s', (_, send) => {
  test('1.99 a handler that throws: 500 without details, and onError gets the error and the request', async () => {
    const observed: [unknown, string | undefined][] = []
    const response = await send(failing, { onError: (error, request) => observed.push([error, request?.url]) })
    expect(response.status).toBe(500)
    expect(await response.text()).toBe('{"error":"server_error"}')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(observed).toEqual([[new Error('hunter2'), expect.stringMatching(/\/page\?x=1$/u)]])
  })

  test('the default onError is console.error', async () => {
    const spy = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    expect((await send(failing, {})).status).toBe(500)
    expect(spy.mock.calls).toEqual([[new Error('hunter2')]])
  })

  test.each([
    [
      'throws',
      () => {
        throw new Error('second')
      },
    ],
    ['rejects', () => Promise.reject(new Error('second'))],
  ])('an onError that %s does not change the response', async (_way, onError) => {
    const spy = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    expect((await send(failing, { onError })).status).toBe(500)
    await expect.poll(() => spy.mock.calls).toEqual([[new Error('second'), new Error('hunter2')]])
  })

  test('does not report a successful response', async () => {
    const observed: unknown[] = []
    const response = await send(async () => new Response('fine'), { onError: (error) => observed.push(error) })
    expect(await response.text()).toBe('fine')
    expect(observed).toEqual([])
  })
})

test('reports a response whose body fails', async () => {
  const observed: unknown[] = []
  const body = new ReadableStream({
    pull() {
      throw new Error('torn')
    },
  })
  const { port, close } = await serve(
    { issuer, fetch: async () => new Response(body) },
    { onError: (error) => observed.push(error) },
  )
  ends.push(() => close(0))
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(500)
  expect(observed).toEqual([new Error('torn')])
})

test('reports an error thrown by onRefused, and keeps running', async () => {
  const observed: unknown[] = []
  const { port, close } = await serve(
    { issuer, fetch: async () => new Response('fine') },
    {
      onRefused: () => {
        throw new Error('careless')
      },
      onError: (error) => observed.push(error),
    },
  )
  ends.push(() => close(0))
  for (const text of ['OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n', 'nonsense\r\n\r\n']) {
    const socket = connect(port, '127.0.0.1')
    let received = ''
    socket.on('data', (data) => {
      received += data
    })
    socket.end(text)
    await expect.poll(() => received).toContain(' 400 ')
  }
  expect(observed).toEqual([new Error('careless'), new Error('careless')])
})

test('does not report a client that disconnects', async () => {
  const observed: unknown[] = []
  const outcomes: string[] = []
  const { port, close } = await serve(
    {
      issuer,
      async fetch(request) {
        try {
          // The disconnection rejects both.
          if (request.url.endsWith('/body')) return new Response(await request.text())
          return await new Promise((_resolve, reject) => {
            const { signal } = request
            signal.addEventListener('abort', () => reject(signal.reason))
          })
        } catch (error) {
          outcomes.push((error as Error).name)
          throw error
        }
      },
    },
    { onError: (error) => observed.push(error) },
  )
  ends.push(() => close(0))
  for (const path of ['/body', '/signal']) {
    const before = outcomes.length
    const client = httpRequest({ port, host: '127.0.0.1', path, method: 'POST' })
    client.on('error', () => undefined)
    client.write('x')
    if (path === '/signal') client.end()
    await new Promise<void>((resolve) => client.once('socket', (socket) => socket.once('connect', resolve)))
    setImmediate(() => client.destroy())
    await expect.poll(() => outcomes.length).toBe(before + 1)
  }
  expect(observed).toEqual([])
})
