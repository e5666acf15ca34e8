import { fetchHandler, fetchMiddleware } from '@grantry/adapters/fetch'
import { describe, expect, test } from 'vitest'
import { fixture } from '../support/fixture.ts'

const send = (url: string, headers: Record<string, string> = {}): Request => new Request(url, { headers })

test('fetchHandler responds to every request, with 404 outside the endpoints of the provider', async () => {
  const handler = fetchHandler((await fixture()).provider)
  expect((await handler(send('https://any.example/connect/userinfo'))).status).toBe(401)
  expect((await handler(send('https://any.example/elsewhere'))).status).toBe(404)
})

test('fetchMiddleware returns undefined outside the endpoints of the provider', async () => {
  const middleware = fetchMiddleware((await fixture()).provider)
  expect((await middleware(send('https://any.example/connect/userinfo')))?.status).toBe(401)
  expect(middleware(send('https://any.example/elsewhere'))).toBeUndefined()
  expect(middleware(send('https://any.example/elsewhere', { authorization: 'Basic a, Basic b' }))).toBeUndefined()
})

test('the client address comes from the clientAddress option only', async () => {
  const f = await fixture()
  const clientAddress = (request: Request) => request.headers.get('cf-connecting-ip') ?? undefined
  const request = () => send('https://any.example/connect/userinfo', { 'cf-connecting-ip': '203.0.113.9' })
  await fetchHandler(f.provider, { clientAddress })(request())
  expect(f.events.at(-1)).toMatchObject({ clientAddress: '203.0.113.9' })
  await fetchMiddleware(f.provider, { clientAddress })(request())
  expect(f.events.at(-1)).toMatchObject({ clientAddress: '203.0.113.9' })
  await fetchHandler(f.provider)(request())
  expect(f.events.at(-1)).not.toHaveProperty('clientAddress')
})

describe('ambiguous requests get 400', () => {
  // Other servers produce such URLs; a Request of Node.js cannot have one.
  const responseTo = async (url: string, headers: Record<string, string> = {}) => {
    const request = send('https://any.example/.well-known/jwks', headers)
    Object.defineProperty(request, 'url', { value: url })
    const response = await fetchHandler((await fixture()).provider)(request)
    return { status: response.status, cache: response.headers.get('cache-control') }
  }
  const jwks = '/.well-known/jwks'

  test.each([
    `http://good@evil.example${jwks}`,
    `http://user:pw@evil.example${jwks}`,
    `http://a b${jwks}`,
    `http://${jwks}`,
    `http://evil.example:x${jwks}`,
    `http://evil.example\\${jwks}`,
    `http://[::1${jwks}`,
    `ftp://evil.example${jwks}`,
    'evil.example:443',
    jwks,
    '',
  ])('the URL %j', async (url) => {
    expect(await responseTo(url)).toEqual({ status: 400, cache: 'no-store' })
  })

  test.each(['evil.example/connect?', 'good@evil.example', 'a b', 'evil.example#', '[::1', 'evil.example:1:2', 'a,b'])(
    'the Host %j',
    async (host) => {
      expect(await responseTo(`http://any.example${jwks}`, { host })).toEqual({ status: 400, cache: 'no-store' })
    },
  )

  test.each(['Basic YTpi, Basic YTpi', 'Bearer a,Bearer b', 'Bearer a, '])(
    'Authorization %j',
    async (authorization) => {
      expect(await responseTo(`http://any.example${jwks}`, { authorization })).toEqual({
        status: 400,
        cache: 'no-store',
      })
    },
  )

  test.each([
    ['any.example', `http://any.example${jwks}`],
    ['any.example:8080', `https://any.example:8080${jwks}`],
    ['[2001:db8::1]:8080', `http://[2001:db8::1]:8080${jwks}`],
    ['127.0.0.1', `http://127.0.0.1${jwks}?x=@`],
    ['xn--bcher-kva.example', `http://xn--bcher-kva.example${jwks}`],
    ['a_b.example.', `http://a_b.example.${jwks}#x`],
    ['', `http://localhost${jwks}`],
  ])('accepts the Host %j and the URL %j', async (host, url) => {
    expect((await responseTo(url, { host })).status).toBe(200)
  })
})

test('serve() of another runtime names the runtime that it requires', async () => {
  const { provider } = await fixture()
  const bun = await import('@grantry/adapters/bun')
  const deno = await import('@grantry/adapters/deno')
  await expect(bun.serve(provider)).rejects.toThrow(new TypeError('@grantry/adapters/bun requires Bun'))
  await expect(deno.serve(provider)).rejects.toThrow(new TypeError('@grantry/adapters/deno requires Deno'))
})
