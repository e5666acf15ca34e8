/** The HTTP bridge works without a provider, as its README shows. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createBridge, LazyResponse, serve } from '../../packages/adapters/src/http-bridge/index.ts'

const origin = 'https://id.example.com'
const describe = async (request: Request, { clientAddress }: { readonly clientAddress: string | undefined }) =>
  new Response(`${request.url} from ${clientAddress}`)

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

test('serves a handler under the given origin', async () => {
  const { port, close } = await serve(origin, describe)
  ends.push(() => close(0))
  const response = await fetch(`http://127.0.0.1:${port}/path?a=1`)
  expect(await response.text()).toBe('https://id.example.com/path?a=1 from 127.0.0.1')
})

test("listens on the host's own server, and reports what it refuses", async () => {
  const refused: unknown[] = []
  const bridge = createBridge(origin, { maxRequests: 1, onRefused: (request) => refused.push(request) })
  let release: (response: Response) => void = () => undefined
  const held = new Promise<Response>((resolve) => {
    release = resolve
  })
  const server = createServer(bridge.listener(() => held)).listen(0, '127.0.0.1')
  ends.push(() => server.close())
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const first = fetch(url)
  await once(server, 'request')
  expect((await fetch(url)).status).toBe(503)
  release(new LazyResponse('done') as unknown as Response)
  expect(await (await first).text()).toBe('done')
  expect(refused).toEqual([{ status: 503, method: 'GET', clientAddress: '127.0.0.1' }])
})
