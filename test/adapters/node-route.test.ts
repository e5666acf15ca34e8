import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { nodeRoute } from '@grantry/adapters/node'
import { expect, onTestFinished, test } from 'vitest'

const provider = { issuer: 'https://id.example.com' }

async function serve(page: Parameters<typeof nodeRoute>[1], onError?: (error?: unknown) => void): Promise<string> {
  const route = nodeRoute(provider, page, { onError: () => {} })
  const server = createServer((req, res) => {
    const next = (error?: unknown): void => {
      onError?.(error)
      res.end('next')
    }
    route(req, res, onError && next)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('converts the request and the response, with several cookies and a body', async () => {
  const base = await serve(async (received, { clientAddress, req }) => {
    const body = {
      url: received.url,
      method: received.method,
      text: await received.text(),
      clientAddress,
      raw: req.url,
    }
    const response = Response.json(body, { status: 201 })
    for (const cookie of ['a=1', 'b=2']) response.headers.append('set-cookie', cookie)
    return response
  })
  const response = await fetch(`${base}/login?x=1`, { method: 'POST', body: 'hello' })
  expect([response.status, response.headers.getSetCookie()]).toEqual([201, ['a=1', 'b=2']])
  expect(await response.json()).toEqual({
    url: 'https://id.example.com/login?x=1',
    method: 'POST',
    text: 'hello',
    clientAddress: '127.0.0.1',
    raw: '/login?x=1',
  })
})

test('leaves a response to a page that returns none', async () => {
  const base = await serve(async (_, { res }) => {
    res.end('rendered')
    return undefined
  })
  expect(await (await fetch(base)).text()).toBe('rendered')
})

test('passes an error to the framework, and is 500 without one', async () => {
  const errors: unknown[] = []
  const failing = async () => {
    throw new Error('broken')
  }
  const withNext = await serve(failing, (error) => errors.push(error))
  expect(await (await fetch(withNext)).text()).toBe('next')
  expect(errors).toEqual([new Error('broken')])
  expect((await fetch(await serve(failing))).status).toBe(500)
})

test('refuses a malformed head before the page sees it', async () => {
  let calls = 0
  const base = await serve(async () => {
    calls += 1
    return new Response()
  })
  const status = await new Promise((resolve, reject) => {
    request(base, { headers: { host: 'a b' } }, (response) => resolve(response.statusCode))
      .on('error', reject)
      .end()
  })
  expect([status, calls]).toEqual([400, 0])
})
