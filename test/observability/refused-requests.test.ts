// Requests that the adapter refuses appear in the log and the metrics, so that an overload is visible.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from '@grantry/adapters/node'
import { afterAll, expect, test } from 'vitest'
import { createHandler } from '../../packages/adapters/src/create-handler.ts'
import { adapterReports } from '../../packages/server/src/observability/adapter-reports.ts'
import type { ServerEvent } from '../../packages/server/src/observability/server-event.ts'
import { traceFields } from '../support/event-fields.ts'
import { exchange } from '../support/exchange.ts'
import { startServer } from '../support/patient-server.ts'

const directory = mkdtempSync(join(tmpdir(), 'grantry-refused-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

test.each([
  ['a target that is not a path', 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'OPTIONS'],
  [
    'two Authorization headers',
    'GET / HTTP/1.1\r\nHost: x\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n',
    400,
    'GET',
  ],
  ['bytes that are not HTTP', 'hello\r\n\r\n', 400, '_OTHER'],
  ['headers that are too large', `GET / HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(20_000)}\r\n\r\n`, 431, '_OTHER'],
  ['a method that Request does not allow', 'TRACE / HTTP/1.1\r\nHost: x\r\n\r\n', 405, 'TRACE'],
])('%s is one log line and one count, without anything from its headers', async (_, head, status, httpMethod) => {
  const events: ServerEvent[] = []
  const server = await startServer({ directory, port: 0, observe: (event) => events.push(event) })
  try {
    const before = events.length
    expect(await exchange(server.running.port, head)).toContain(`HTTP/1.1 ${status} `)
    expect(events.slice(before)).toMatchObject([
      { type: 'request_answered', endpoint: 'refused', status, httpMethod, clientAddress: '127.0.0.1' },
    ])
    expect(events.at(-1)).not.toHaveProperty('route')
    const page = await (await fetch(`http://127.0.0.1:${server.running.port}/metrics`)).text()
    expect(page).toContain(
      `grantry_requests_total{endpoint="refused",method="${httpMethod}",status="${status}",reason=""} 1`,
    )
  } finally {
    await server.close(0)
  }
})

test('each request beyond maxRequests is logged and counted', async () => {
  const received: number[] = []
  let release: () => void = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const fetchSlowly = async (): Promise<Response> => {
    await released
    return new Response('done')
  }
  const server = await serve(
    { issuer: 'http://127.0.0.1', fetch: fetchSlowly },
    { maxRequests: 1, onRefused: ({ status }) => received.push(status) },
  )
  try {
    const asked = [1, 2, 3].map(() => fetch(`http://127.0.0.1:${server.port}/`))
    // The accepted request waits.
    expect((await Promise.race(asked)).status).toBe(503)
    release()
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    expect(received).toEqual(statuses.filter((status) => status === 503))
  } finally {
    release()
    await server.close(1)
  }
})

test('refused requests are reported on Bun and Deno, too', async () => {
  const received: unknown[] = []
  const response = createHandler(
    { fetch: async () => new Response() },
    { onRefused: (request) => received.push(request) },
  )
  const request = new Request('http://x.invalid/', { headers: { authorization: 'a, b' } })
  expect((await response(request, '198.51.100.7')).status).toBe(400)
  expect(received).toEqual([{ status: 400, method: 'GET', clientAddress: '198.51.100.7' }])
})

test('a throwing handler and a warning of the adapter are events', () => {
  const events: ServerEvent[] = []
  const { onError, onWarning } = adapterReports((event) => events.push(event))
  const cause = new Error('careless')
  onError?.(cause)
  onWarning?.({ reason: 'forwarding_headers_ignored', message: 'Set it', clientAddress: '127.0.0.1' })
  expect(events).toEqual([
    {
      type: 'unhandled_failure',
      id: expect.any(String),
      time: expect.any(Number),
      ...traceFields,
      reason: 'handler_failed',
      cause: { name: 'Error', message: 'careless', stack: cause.stack },
    },
    {
      type: 'startup_warning',
      id: expect.any(String),
      time: expect.any(Number),
      ...traceFields,
      reason: 'forwarding_headers_ignored',
      message: 'Set it',
      clientAddress: '127.0.0.1',
    },
  ])
})
