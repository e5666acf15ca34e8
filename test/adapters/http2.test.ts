/**
 * The Node listener mounted in a `node:http2` server. A request has `:authority` instead of `Host` and pseudo-header
 * names that begin with a colon; a response must not have connection-specific fields; many requests share a connection.
 *
 * RFC 9113 sections 8.2.2 (connection-specific fields), 8.2.3 (cookie crumbs), 8.3.1 (pseudo-header fields). The server
 * uses no TLS: the protocol above it is the same.
 */
import { once } from 'node:events'
import {
  type ClientHttp2Session,
  connect,
  constants,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import { nodeListener } from '@grantry/adapters/node'
import type { Handler } from '@grantry/core'
import { basic } from '@grantry/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { lastResort } from '../support/eventually.ts'
import { type Fixture, fixture, web } from '../support/fixture.ts'

let f: Fixture
let server: Http2Server
let session: ClientHttp2Session
let accepted: ServerHttp2Session[]
/** The last request that the provider received. */
let seen: Request | undefined

beforeEach(async () => {
  f = await fixture()
  const fetch: Handler = (request, connection) => {
    seen = request
    return f.provider.fetch(request, connection)
  }
  const provider = { ...f.provider, fetch, route: (request: Request) => f.provider.route(request) && fetch }
  const listener = nodeListener(provider) as unknown as Parameters<typeof createServer>[1]
  server = createServer(listener).listen(0, '127.0.0.1')
  accepted = []
  server.on('session', (opened) => accepted.push(opened))
  await once(server, 'listening')
  session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
afterEach(async () => {
  session.destroy()
  for (const acceptedSession of accepted) acceptedSession.destroy()
  await new Promise((resolve) => server.close(resolve))
})

interface ReceivedResponse {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

async function send(headers: OutgoingHttpHeaders, body?: string): Promise<ReceivedResponse> {
  const stream = session.request(headers, { endStream: body === undefined })
  stream.setTimeout(lastResort, () => stream.close(constants.NGHTTP2_CANCEL))
  if (body !== undefined) stream.end(body)
  const [answered] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status'?: number }]
  let text = ''
  for await (const part of stream) text += part
  return { status: answered[':status'], headers: answered, text }
}

const form = 'grant_type=client_credentials&scope=api1'
const post = (body: string, more: OutgoingHttpHeaders = {}): Promise<ReceivedResponse> =>
  send(
    {
      ':method': 'POST',
      ':path': '/connect/token',
      authorization: basic(web),
      'content-type': 'application/x-www-form-urlencoded',
      ...more,
    },
    body,
  )

/** RFC 9113 section 8.2.2: a message with one of these fields is malformed. */
const ofConnections = ['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'proxy-connection']

function expectNoneOfConnections({ headers }: ReceivedResponse): void {
  expect(Object.keys(headers).filter((name) => ofConnections.includes(name))).toEqual([])
}

test('issues a token', async () => {
  const response = await post(form)
  expect(response.status).toBe(200)
  expect(JSON.parse(response.text)).toMatchObject({ token_type: 'Bearer', scope: 'api1' })
  expect(response.headers['cache-control']).toBe('no-store')
  expectNoneOfConnections(response)
})

test('GET, HEAD, a preflight and a wrong method get the same responses as with HTTP/1', async () => {
  const jwks = await send({ ':path': '/.well-known/jwks' })
  expect(jwks).toMatchObject({ status: 200, text: expect.stringContaining('"keys"') })
  const head = await send({ ':method': 'HEAD', ':path': '/.well-known/jwks' })
  expect(head).toMatchObject({ status: 200, text: '' })
  const preflight = await send({
    ':method': 'OPTIONS',
    ':path': '/connect/token',
    origin: 'https://web.example.com',
    'access-control-request-method': 'POST',
  })
  expect(preflight).toMatchObject({ status: 204, text: '' })
  expect(preflight.headers['content-length']).toBeUndefined()
  expect(await send({ ':path': '/connect/token' })).toMatchObject({ status: 405 })
  expect(await send({ ':path': '/nothing' })).toMatchObject({ status: 404 })
})

test('the authority does not affect the issuer, and no header of the request begins with a colon', async () => {
  const response = await send({ ':path': '/.well-known/openid-configuration', ':authority': 'evil.example' })
  expect(JSON.parse(response.text)).toMatchObject({ issuer: f.provider.issuer })
  expect(response.text).not.toContain('evil')
  expect([...(seen?.headers.keys() ?? [])].filter((name) => name.startsWith(':'))).toEqual([])
})

test('joins cookie crumbs', async () => {
  await send({ ':path': '/.well-known/jwks', cookie: ['a=1', 'b=2'] })
  expect(seen?.headers.get('cookie')).toBe('a=1; b=2')
})

test('a path that looks like an authority or ends in a slash matches no endpoint', async () => {
  for (const path of ['//evil.example/connect/token', '/\\evil.example/connect/token', '/connect/token/']) {
    const { status = 0 } = await post(form, { ':path': path })
    expect([400, 404], path).toContain(status)
  }
})

test('a body over the limit gets a complete 413, and other requests on the connection are served', async () => {
  const [large, small] = await Promise.all([post(`${form}&x=${'a'.repeat(200_000)}`), post(form)])
  expect(large).toMatchObject({ status: 413, text: expect.stringContaining('"invalid_request"') })
  expectNoneOfConnections(large)
  expect(small.status).toBe(200)
  expect(await post(form)).toMatchObject({ status: 200 })
})

test('serves 100 concurrent requests on one connection', async () => {
  const responses = await Promise.all(Array.from({ length: 100 }, () => post(form)))
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
  expect(new Set(responses.map(({ text }) => JSON.parse(text).access_token)).size).toBe(100)
})

test('resetting requests does not affect other requests', async () => {
  for (let time = 0; time < 50; time += 1) {
    const stream = session.request({
      ':method': 'POST',
      ':path': '/connect/token',
      authorization: basic(web),
      'content-type': 'application/x-www-form-urlencoded',
    })
    stream.on('error', () => undefined)
    stream.write(form.slice(0, 10))
    stream.close(constants.NGHTTP2_CANCEL)
  }
  expect(await post(form)).toMatchObject({ status: 200 })
})

test('refuses TRACE without an echo', async () => {
  const response = await send({ ':method': 'TRACE', ':path': '/connect/token', 'x-secret': 'hunter2' })
  expect([400, 405]).toContain(response.status)
  expect(response.text).not.toContain('hunter2')
  expectNoneOfConnections(response)
})
