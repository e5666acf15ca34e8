/**
 * Attack by mistake: a client puts a token, a code or a secret into the path of a URL, or into the query of a URL
 * without an endpoint. It must not appear in the log, the traces or the metrics.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { trace } from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLog } from '../../packages/server/src/log.ts'
import type { ServerEvent } from '../../packages/server/src/observability/server-event.ts'
import type { GrantryServer } from '../../packages/server/src/server.ts'
import { startServer } from '../support/patient-server.ts'

const secret = 'eyJhbGciOiJFUzI1NiJ9.a-token-that-strayed'
const directory = mkdtempSync(join(tmpdir(), 'grantry-path-'))
const exporter = new InMemorySpanExporter()
const events: ServerEvent[] = []
const lines: string[] = []
let server: GrantryServer

beforeAll(async () => {
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
  const log = createLog({ write: (text) => lines.push(text) })
  const observe = (event: ServerEvent): void => {
    events.push(event)
    log.observe(event)
  }
  server = await startServer({ directory, port: 0, observe })
})
afterAll(async () => {
  await server.close(0)
  trace.disable()
  rmSync(directory, { recursive: true, force: true })
})

/** Sends a target unchanged: `fetch` would normalize it. */
const send = (method: string, path: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port: server.running.port, method, path }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode))
    })
    outgoing.on('error', reject).end()
  })

test.each([
  ['GET', `/${secret}`],
  ['GET', `/connect/userinfo/${secret}`],
  ['POST', `/connect/token/${secret}?token=${secret}`],
  ['GET', `/connect/token;${secret}`],
  ['GET', `//${secret}`],
  ['GET', `/console/${secret}`],
  ['GET', `/metrics/${secret}`],
  ['GET', `/health/live/${secret}`],
  ['GET', `/demo/callback/${secret}`],
  ['GET', `/health/ready?token=${secret}`],
  ['GET', `/metrics?token=${secret}`],
  ['GET', `/console?token=${secret}`],
  ['GET', `/.well-known/jwks?token=${secret}`],
  ['DELETE', `/connect/userinfo?token=${secret}`],
  ['GET', `http://x.invalid/${secret}`],
  ['OPTIONS', `*${secret}`],
])('%s %s leaves no trace of it in events, log, traces and metrics', async (method, path) => {
  events.length = 0
  lines.length = 0
  exporter.reset()
  await send(method, path)
  const page = await (await fetch(`http://127.0.0.1:${server.running.port}/metrics`)).text()
  expect(events.length).toBeGreaterThan(0)
  const spans = exporter.getFinishedSpans().map(({ name, attributes, status }) => ({ name, attributes, status }))
  for (const [where, text] of Object.entries({
    events: JSON.stringify(events),
    log: lines.join(''),
    spans: JSON.stringify(spans),
    metrics: page,
  })) {
    expect([where, text.includes('strayed')]).toEqual([where, false])
  }
})

test('names the routes of the server', async () => {
  for (const path of ['/health/live', '/metrics', '/console', '/demo/callback']) {
    await send('GET', `${path}?token=${secret}`)
    expect(events.at(-1)).toMatchObject({ type: 'request_answered', route: path })
  }
  await send('GET', '/elsewhere')
  expect(events.at(-1)).toMatchObject({ type: 'endpoint_failed', endpoint: 'unknown', reason: 'endpoint_unknown' })
  expect(events.at(-1)).not.toHaveProperty('route')
})
