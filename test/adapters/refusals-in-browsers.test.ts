// What an adapter refuses by itself, or cannot serve, is a page in a browser: its user would otherwise read JSON.
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { bunHandler } from '@grantry/adapters/bun'
import { denoHandler } from '@grantry/adapters/deno'
import { nodeListener, type ServeOptions } from '@grantry/adapters/node'
import { afterEach, describe, expect, test } from 'vitest'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

type Fetch = (request: Request) => Promise<Response>
type Headers = Readonly<Record<string, string>>
interface Received {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

const issuer = 'http://127.0.0.1'
const browsers: readonly Headers[] = [
  {
    accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8',
    'sec-fetch-mode': 'navigate',
  },
  { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' },
  { accept: 'text/html' },
]
const programs: readonly Headers[] = [
  {},
  { accept: '*/*' },
  { accept: 'application/json, text/html' },
  { accept: 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2' },
  { accept: 'text/html', 'sec-fetch-mode': 'cors' },
]

const receivedOf = async (response: Response): Promise<Received> => ({
  status: response.status,
  headers: Object.fromEntries(response.headers),
  body: await response.text(),
})

/** Returns a function that sends a GET request through an adapter. */
const adapters: Readonly<
  Record<string, (fetch: Fetch, options: ServeOptions) => (sent: Headers) => Promise<Received>>
> = {
  nodeListener(fetch, options) {
    const server = createServer(nodeListener({ issuer, fetch }, options))
    const listening = new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    ends.push(() => server.close())
    return async (headers) => {
      await listening
      const { port } = server.address() as AddressInfo
      return new Promise((resolve, reject) => {
        get({ port, path: '/page?x=1', headers }, async (response) => {
          const chunks: Buffer[] = []
          for await (const chunk of response) chunks.push(chunk)
          const { statusCode: status = 0, headers } = response
          resolve({ status, headers, body: Buffer.concat(chunks).toString() })
        }).once('error', reject)
      })
    }
  },
  bunHandler(fetch, options) {
    const handler = bunHandler({ fetch }, options)
    const server = { requestIP: () => null, stop: () => undefined }
    return async (headers) => receivedOf(await handler(new Request(`${issuer}/page?x=1`, { headers }), server))
  },
  denoHandler: (fetch, options) => {
    const handler = denoHandler({ fetch }, options)
    return async (headers) =>
      receivedOf(await handler(new Request(`${issuer}/page?x=1`, { headers }), { remoteAddr: {} }))
  },
}

function expectPage({ status, headers, body }: Received, expected: number, code: string): void {
  expect([status, headers['content-type']]).toEqual([expected, 'text/html; charset=utf-8'])
  expect(headers['content-security-policy']).toContain("default-src 'none'")
  expect(headers['x-frame-options']).toBe('DENY')
  expect(headers['cache-control']).toBe('no-store')
  expect(body).toContain('<h1>This page cannot be shown now</h1>')
  expect(body).toContain(`<code>${code}</code>`)
  expect(body).not.toContain('page?x')
}

describe.each(Object.entries(adapters))('%s', (_name, open) => {
  test('1.104 shows a page when a handler throws', async () => {
    const send = open(
      async () => {
        throw new Error('hunter2')
      },
      { onError: () => undefined },
    )
    for (const browser of browsers) expectPage(await send(browser), 500, 'server_error')
    for (const program of programs) expect((await send(program)).body).toBe('{"error":"server_error"}')
  })

  test('1.104 shows a page when there are too many requests', async () => {
    let respond: (response: Response) => void = () => undefined
    let arrive: () => void = () => undefined
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve
    })
    const send = open(
      () => {
        arrive()
        return new Promise((resolve) => {
          respond = resolve
        })
      },
      { maxRequests: 1, onRefused: () => undefined },
    )
    const first = send({})
    await arrived
    const busy = await send(browsers[0] ?? {})
    expectPage(busy, 503, 'temporarily_unavailable')
    expect(busy.headers['retry-after']).toBe('1')
    for (const program of programs) expect((await send(program)).headers['content-type']).toBe('application/json')
    respond(new Response('done'))
    expect((await first).body).toBe('done')
  })
})
