// Where /metrics is served, and who can read it.

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Handler, parseConfiguration } from '@grantry/core'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { localOnly } from '../../packages/server/src/observability/metrics-page.ts'
import type { GrantryServer } from '../../packages/server/src/server.ts'
import { configurationSchema } from '../support/configuration-schema.ts'
import { startServer } from '../support/patient-server.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { parsePrometheusText } from './prometheus-text.ts'

const directory = mkdtempSync(join(tmpdir(), 'grantry-metrics-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))
const servers: GrantryServer[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close(0)))
})

const loadedWith = (more: object) => ({
  configuration: parseConfiguration(
    configurationSchema,
    { issuer: 'https://id.example.com', storage: { driver: 'memory' }, clients: [], ...more },
    '',
  ),
  file: 'grantry.config.json',
  directory,
})

async function start(more: object = {}): Promise<GrantryServer> {
  const server = await startServer({ loaded: loadedWith(more), port: 0, observe: () => {} })
  servers.push(server)
  return server
}

const addressOf = ({ running }: GrantryServer): string => `http://127.0.0.1:${running.port}`

const notFound: Handler = async () => new Response(null, { status: 404 })

describe('on the port of the server', () => {
  test('is served to local programs, complete and uncached', async () => {
    const response = await fetch(`${addressOf(await start())}/metrics`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(parsePrometheusText(await response.text()).size).toBeGreaterThan(20)
  })

  test.each([
    ['POST', 405],
    ['HEAD', 200],
  ])('%s gets %d', async (method, status) => {
    expect((await fetch(`${addressOf(await start())}/metrics`, { method })).status).toBe(status)
  })

  // A proxy on this machine forwards remote callers from a loopback address.
  test.each(['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via'])(
    'a request through a proxy that sets %s gets 404',
    async (header) => {
      const response = await fetch(`${addressOf(await start())}/metrics`, { headers: { [header]: '198.51.100.7' } })
      expect(response.status).toBe(404)
      expect(await response.json()).toEqual({
        error: 'invalid_request',
        error_description: 'There is no such endpoint',
      })
    },
  )

  test.each([
    ['127.0.0.1', 200],
    ['::1', 200],
    ['::ffff:127.0.0.1', 200],
    ['198.51.100.7', 404],
    ['::ffff:198.51.100.7', 404],
    ['2001:db8::1', 404],
    ['127.0.0.1.example.com', 404],
    [undefined, 404],
  ])('a caller from %s gets %d', async (clientAddress, status) => {
    const page: Handler = async () => new Response('page')
    const request = new Request('http://x.invalid/metrics', { headers: { host: '127.0.0.1:8484' } })
    expect((await localOnly(page, notFound)(request, { clientAddress })).status).toBe(status)
  })

  // Attack: DNS rebinding. An attacker's page in a browser on this machine sends the request.
  test.each([
    ['127.0.0.1:8484', 200],
    ['localhost', 200],
    ['[::1]:8484', 200],
    ['attacker.example:8484', 404],
    ['127.0.0.1.attacker.example', 404],
    ['localhost.attacker.example', 404],
    ['id.example.com', 404],
    [undefined, 404],
  ])('a request for the host %s gets %d', async (host, status) => {
    const page: Handler = async () => new Response('page')
    const request = new Request('http://127.0.0.1/metrics', { ...(host !== undefined && { headers: { host } }) })
    expect((await localOnly(page, notFound)(request, { clientAddress: '127.0.0.1' })).status).toBe(status)
  })
})

test('false disables it', async () => {
  const server = await start({ metrics: false })
  expect(server.metrics).toBe('off')
  expect((await fetch(`${addressOf(server)}/metrics`)).status).toBe(404)
})

describe('on a separate port', () => {
  test('serves only /metrics, and the main port serves everything else', async () => {
    const server = await start({ metrics: { port: 0 } })
    const [metricsOrigin = ''] = /^http:\/\/127\.0\.0\.1:\d+(?=\/metrics$)/u.exec(server.metrics) ?? []
    expect(metricsOrigin).not.toBe(addressOf(server))
    expect((await fetch(`${addressOf(server)}/metrics`)).status).toBe(404)
    expect((await fetch(`${metricsOrigin}/connect/token`, { method: 'POST' })).status).toBe(404)
    // Any caller that reaches this port can read it.
    const response = await fetch(`${metricsOrigin}/metrics`, { headers: { 'x-forwarded-for': '198.51.100.7' } })
    expect(await response.text()).toContain(
      'grantry_requests_total{endpoint="unknown",method="GET",status="404",reason="endpoint_unknown"} 1',
    )
  })

  test('closes with the server', async () => {
    const server = await start({ metrics: { port: 0 } })
    expect((await fetch(server.metrics)).status).toBe(200)
    await server.close(1)
    await expect(fetch(server.metrics)).rejects.toThrow()
    servers.length = 0
  })

  test('ends the start with one line if the port is busy, and nothing listens', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as { port: number }
    const main = await reservedPort()
    const started = startServer({ loaded: loadedWith({ metrics: { port } }), port: main, observe: () => {} })
    await expect(started).rejects.toThrow(
      `grantry.config.json: port ${port} on 127.0.0.1 is in use; stop the other process, or choose another port with metrics.port`,
    )
    await expect(fetch(`http://127.0.0.1:${main}/health/live`)).rejects.toThrow()
    await new Promise((resolve) => taken.close(resolve))
  })
})

test.each([
  ['yes', 'metrics must be true, false, or { "port": 9464, "host": "127.0.0.1" }'],
  [{ port: 70_000 }, 'metrics.port must be a port from 0 to 65535'],
  [{ host: '127.0.0.1' }, 'metrics.port is required'],
  [{ port: 9464, hots: '::1' }, 'metrics.hots is not a known option; did you mean host?'],
])('an invalid setting %j is reported with its path', (metrics, sentence) => {
  expect(() => loadedWith({ metrics })).toThrow(sentence)
})
