import { createProvider, parseTraceparent, type RequestFacts, webRuntime } from '@grantry/core'
import { basic, createTestProvider, testClient } from '@grantry/testing'
import { expect, test } from 'vitest'
import { fixture, web } from '../support/fixture.ts'
import { testGrant } from '../support/test-grant.ts'
import { fixtureOptions } from './provider-options.ts'

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
const issuer = 'https://id.example.com'

const start = (more: { readonly traceHeaders?: boolean } = {}) => fixture(more)

const post = (headers: Record<string, string> = {}) =>
  new Request(`${issuer}/connect/token`, {
    method: 'POST',
    headers: { authorization: basic(web), ...headers },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'api1' }),
  })

test('traceHeaders adds the request id and trace to responses, including refusals and preflights', async () => {
  const { provider, events } = await start({ traceHeaders: true })
  const requests = [
    post({ traceparent }),
    post({ traceparent, authorization: 'Basic nonsense' }),
    new Request(`${issuer}/connect/token`, {
      method: 'OPTIONS',
      headers: { traceparent, origin: 'https://web.example.com', 'access-control-request-method': 'POST' },
    }),
  ]
  for (const request of requests) {
    const { headers } = await provider.fetch(request)
    const event = events.at(-1)
    expect(headers.get('x-request-id')).toBe(event?.requestId)
    expect(parseTraceparent(headers.get('traceparent'))).toEqual({
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      parentSpanId: event?.spanId,
      flags: 1,
    })
    expect(headers.get('access-control-expose-headers') ?? '').not.toMatch(/trace|request-id/u)
  }
})

test('responses have no trace headers by default', async () => {
  const { provider } = await start()
  const { headers } = await provider.fetch(post({ traceparent, 'x-request-id': 'mine' }))
  expect(headers.has('x-request-id')).toBe(false)
  expect(headers.has('traceparent')).toBe(false)
})

test('a provider without an observer generates no ids', async () => {
  const drawn: number[] = []
  const randomBytes = (length: number) => {
    drawn.push(length)
    return webRuntime.randomBytes(length)
  }
  for (const more of [{}, { traceHeaders: true }]) {
    const provider = await createProvider({ ...(await fixtureOptions()), ...more, runtime: { randomBytes } })
    // The first request creates the revision of the issuer.
    const { headers } = await provider.fetch(post())
    drawn.length = 0
    const ids = [headers.get('x-request-id')]
    // Ids are drawn for many requests together.
    for (let count = 0; count < 200; count += 1) ids.push((await provider.fetch(post())).headers.get('x-request-id'))
    const isForIds = (length: number): boolean => length > 64
    expect(drawn.some(isForIds)).toBe('traceHeaders' in more)
    // 32 bytes are for an access token, and for a refresh token; 16 for the id in the claims of a reference token.
    expect(drawn.filter((length) => !isForIds(length))).toEqual(Array.from({ length: 200 }, () => [32, 32, 16]).flat())
    expect(new Set(ids).size).toBe('traceHeaders' in more ? 201 : 1)
  }
})

test('ignores the request id of the caller', async () => {
  const { provider } = await start({ traceHeaders: true })
  const { headers } = await provider.fetch(post({ 'x-request-id': 'mine' }))
  expect(headers.get('x-request-id')).toMatch(/^[\w-]{12}$/u)
})

test('cacheable documents have no request id', async () => {
  const { provider } = await start({ traceHeaders: true })
  for (const path of ['/.well-known/jwks', '/.well-known/openid-configuration']) {
    const { headers } = await provider.fetch(new Request(issuer + path))
    expect(headers.get('cache-control')).toContain('public')
    expect(headers.has('x-request-id')).toBe(false)
    expect(headers.has('traceparent')).toBe(false)
  }
})

test('every event of a request has its trace and span', async () => {
  const { provider, events } = await start()
  const before = events.length
  await provider.fetch(post({ traceparent }))
  const places = events.slice(before).map(({ traceId, spanId, parentSpanId }) => ({ traceId, spanId, parentSpanId }))
  expect(places).toHaveLength(3)
  expect(new Set(places.map((place) => JSON.stringify(place))).size).toBe(1)
  expect(places[0]).toMatchObject({ traceId: '4bf92f3577b34da6a3ce929d0e0e4736', parentSpanId: '00f067aa0ba902b7' })
})

test('the span of the host takes precedence over the header', async () => {
  const { provider, events } = await start()
  const traceContext = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), flags: 1 }
  await provider.fetch(post({ traceparent }), { traceContext })
  expect(events.at(-1)).toMatchObject({ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) })
  expect(events.at(-1)).not.toHaveProperty('parentSpanId')
})

test('an unknown method is not recorded', async () => {
  const { provider, events } = await start()
  await provider.fetch(new Request(`${issuer}/connect/token`, { method: 'EVIL' }))
  expect(events.at(-1)).toMatchObject({ httpMethod: '_OTHER', status: 405 })
})

test.each([
  ['a valid one', { traceparent, tracestate: 'vendor=1,other=2' }, 'vendor=1,other=2'],
  ['none', { tracestate: 'vendor=1' }, undefined],
  ['an invalid one', { traceparent: 'x', tracestate: 'vendor=1' }, undefined],
  ['one with a long tracestate', { traceparent, tracestate: `a=${'x'.repeat(512)}` }, undefined],
])('a grant gets the trace headers for its own requests: with %s', async (_, headers, state) => {
  let seen: ReturnType<RequestFacts['trace']> | undefined
  const grant = testGrant({
    grantType: 'urn:example:calls',
    async handle({ scopes: granted, request }) {
      seen = request.trace()
      return { scopes: granted }
    },
  })
  const { provider, events } = await createTestProvider({ plugins: [grant] })
  const request = new Request(`${issuer}/connect/token`, {
    method: 'POST',
    headers: { authorization: basic(testClient), ...headers },
    body: new URLSearchParams({ grant_type: 'urn:example:calls', scope: 'api1' }),
  })
  expect((await provider.fetch(request)).status).toBe(200)
  expect(seen?.tracestate).toBe(state)
  const { spanId = '', traceId = '' } = events.at(-1) ?? {}
  expect(seen?.traceparent).toContain(`-${traceId}-${spanId}-`)
})
