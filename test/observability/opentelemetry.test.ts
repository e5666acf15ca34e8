import { type AtomicDriver, createProvider } from '@grantry/core'
import { basic } from '@grantry/testing'
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { openTelemetry } from 'grantry/opentelemetry'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fixtureOptions } from './provider-options.ts'

const exporter = new InMemorySpanExporter()
const caller = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
const traceparent = `00-${caller.traceId}-${caller.spanId}-01`
const issuer = 'https://id.example.com'

beforeEach(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
})
afterEach(() => {
  exporter.reset()
  trace.disable()
  context.disable()
  propagation.disable()
})

async function start() {
  const tracing = openTelemetry()
  const events: { readonly spanId?: string | undefined; readonly traceId?: string | undefined }[] = []
  const options = await fixtureOptions()
  const storage = { broken: false }
  const refused = () => Promise.reject(new Error('out of reach'))
  const driver: AtomicDriver = {
    ...options.storage,
    setItem: (key, value, more) => (storage.broken ? refused() : options.storage.setItem(key, value, more)),
    insertItem: (key, value, more) => (storage.broken ? refused() : options.storage.insertItem(key, value, more)),
  }
  const plain = await createProvider({
    ...options,
    storage: tracing.storage(driver),
    observe: (event) => {
      tracing.observe(event)
      events.push(event)
    },
  })
  exporter.reset()
  return { provider: tracing.provider(plain), plain, events, storage }
}

const tokenRequest = (headers: Record<string, string> = {}, query = '') =>
  new Request(`${issuer}/connect/token${query}`, {
    method: 'POST',
    headers: { authorization: basic(['web', 'web-secret']), ...headers },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'api1' }),
  })

const serverSpans = (): readonly ReadableSpan[] =>
  exporter.getFinishedSpans().filter(({ kind }) => kind === SpanKind.SERVER)

test('a request is one server span, named after method and route, in the trace of its caller', async () => {
  const { provider, events } = await start()
  expect((await provider.fetch(tokenRequest({ traceparent }), { clientAddress: '198.51.100.7' })).status).toBe(200)
  const [span, ...others] = serverSpans()
  expect(others).toEqual([])
  expect(span?.name).toBe('POST /connect/token')
  expect(span?.parentSpanContext).toMatchObject({ ...caller, isRemote: true })
  expect(span?.attributes).toEqual({
    'http.request.method': 'POST',
    'http.route': '/connect/token',
    'url.path': '/connect/token',
    'url.scheme': 'https',
    'client.address': '198.51.100.7',
    'http.response.status_code': 200,
    'grantry.endpoint': 'token',
    'grantry.client_id': 'web',
    'grantry.request_id': expect.stringMatching(/^[\w-]{12}$/u),
  })
  // Log lines refer to the span.
  const { spanId, traceId } = span?.spanContext() ?? {}
  expect(events.at(-1)).toMatchObject({ traceId, spanId, parentSpanId: caller.spanId })
})

test('storage operations are child spans', async () => {
  const { provider } = await start()
  await provider.fetch(tokenRequest())
  const [parent] = serverSpans()
  const children = exporter.getFinishedSpans().filter(({ kind }) => kind === SpanKind.CLIENT)
  expect(children.length).toBeGreaterThan(0)
  for (const child of children) {
    expect(child.parentSpanContext?.spanId).toBe(parent?.spanContext().spanId)
    expect(child.attributes['db.operation.name']).toBe(child.name)
  }
})

test('a refusal sets the reason; only a server error sets the error status', async () => {
  const { provider, storage } = await start()
  await provider.fetch(tokenRequest({ authorization: basic(['web', 'wrong-secret-of-this-test']) }))
  const [refused] = serverSpans()
  expect(refused?.attributes).toMatchObject({ 'http.response.status_code': 401, 'error.type': 'secret_mismatch' })
  expect(refused?.status.code).toBe(SpanStatusCode.UNSET)
  exporter.reset()

  storage.broken = true
  expect((await provider.fetch(tokenRequest())).status).toBe(503)
  const [failed] = serverSpans()
  expect(failed?.attributes).toMatchObject({ 'http.response.status_code': 503, 'error.type': 'storage_failed' })
  expect(failed?.status.code).toBe(SpanStatusCode.ERROR)
  const operations = exporter.getFinishedSpans().filter(({ kind }) => kind === SpanKind.CLIENT)
  expect(operations.map(({ status }) => status.code)).toContain(SpanStatusCode.ERROR)
})

test('a span contains no query, header or body', async () => {
  const { provider } = await start()
  await provider.fetch(tokenRequest({ 'user-agent': 'stranger' }, '?token=secret-in-a-query'))
  await provider.fetch(new Request(`${issuer}/connect/accesstokenvalidation?token=secret-in-a-query`))
  await provider.fetch(new Request(`${issuer}/a-path-of-a-stranger?token=secret-in-a-query`))
  const written = JSON.stringify(
    exporter.getFinishedSpans().map(({ name, attributes, events }) => [name, attributes, events]),
  )
  expect(written).not.toMatch(/secret-in-a-query|web-secret|stranger/u)
  expect(serverSpans()).toHaveLength(3)
})

test('an invalid traceparent starts a new trace', async () => {
  const { provider } = await start()
  await provider.fetch(tokenRequest({ traceparent: '00-0-0-01' }))
  expect(serverSpans()[0]?.parentSpanContext).toBeUndefined()
})

test('a registered propagator takes precedence', async () => {
  propagation.setGlobalPropagator({
    inject: () => {},
    fields: () => ['x-own'],
    extract: (into, carrier, getter) =>
      trace.setSpanContext(into, {
        traceId: String(getter.get(carrier, 'x-own')),
        spanId: 'b'.repeat(16),
        traceFlags: 1,
      }),
  })
  const { provider } = await start()
  await provider.fetch(tokenRequest({ traceparent, 'x-own': 'a'.repeat(32) }))
  expect(serverSpans()[0]?.spanContext().traceId).toBe('a'.repeat(32))
})

test('keeps the handlers, route, paths and getters of the provider', async () => {
  const { provider, plain } = await start()
  expect(Object.keys(provider).sort()).toEqual(Object.keys(plain).sort())
  expect(provider.route(new Request(`${issuer}/nothing`))).toBeUndefined()
  expect(provider.route(tokenRequest())).toBe(provider.handlers.token)
  expect(provider.observerFailures).toBe(plain.observerFailures)
  expect(provider.paths).toBe(plain.paths)
})

test('creates no spans without an SDK, and does not change responses and events', async () => {
  trace.disable()
  const { provider, events } = await start()
  expect((await provider.fetch(tokenRequest({ traceparent }))).status).toBe(200)
  expect(exporter.getFinishedSpans()).toEqual([])
  expect(events.at(-1)).toMatchObject({ traceId: caller.traceId, parentSpanId: caller.spanId })
})
