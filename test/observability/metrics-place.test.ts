// Where /metrics is, and who may read it.

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Handler, parseConfiguration } from '@grantry/core'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { configurationSchema } from '../../packages/server/src/configuration/schema.ts'
import { localOnly } from '../../packages/server/src/observability/metrics-page.ts'
import { type GrantryServer, startServer } from '../../packages/server/src/server.ts'
import { freePort } from '../support/free-port.ts'
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

describe('on the port of the server', () => {
  test('it is there for a program of this machine, whole and never cached', async () => {
    const response = await fetch(`${addressOf(await start())}/metrics`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(parsePrometheusText(await response.text()).size).toBeGreaterThan(20)
  })

  test.each([
    ['POST', 405],
    ['HEAD', 200],
  ])('%s is answered %d', async (method, status) => {
    expect((await fetch(`${addressOf(await start())}/metrics`, { method })).status).toBe(status)
  })

  // A proxy on this machine passes strangers on, from a loopback address.
  test.each(['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via'])(
    'who comes through a proxy that says so by %s finds nothing',
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
  ])('who comes from %s gets %d', async (clientAddress, status) => {
    const page: Handler = async () => new Response('page')
    const request = new Request('http://x.invalid/metrics', { headers: { host: '127.0.0.1:8484' } })
    expect((await localOnly(page)(request, { clientAddress })).status).toBe(status)
  })

  // Attack: DNS rebinding. The browser of somebody at this machine asks, for a page of a stranger.
  test.each([
    ['127.0.0.1:8484', 200],
    ['localhost', 200],
    ['[::1]:8484', 200],
    ['attacker.example:8484', 404],
    ['127.0.0.1.attacker.example', 404],
    ['localhost.attacker.example', 404],
    ['id.example.com', 404],
    [undefined, 404],
  ])('who asks for %s gets %d', async (host, status) => {
    const page: Handler = async () => new Response('page')
    const request = new Request('http://127.0.0.1/metrics', { ...(host !== undefined && { headers: { host } }) })
    expect((await localOnly(page)(request, { clientAddress: '127.0.0.1' })).status).toBe(status)
  })
})

test('false switches it off', async () => {
  const server = await start({ metrics: false })
  expect(server.metrics).toBe('off')
  expect((await fetch(`${addressOf(server)}/metrics`)).status).toBe(404)
})

describe('on a port of its own', () => {
  test('it is there and not on the other; the other has everything else and it has nothing else', async () => {
    const port = await freePort()
    const server = await start({ metrics: { port } })
    const own = `http://127.0.0.1:${port}`
    expect(server.metrics).toBe(`${own}/metrics`)
    expect((await fetch(`${addressOf(server)}/metrics`)).status).toBe(404)
    expect((await fetch(`${own}/connect/token`, { method: 'POST' })).status).toBe(404)
    // Whoever reaches it may read it: that is what it is for.
    const response = await fetch(`${own}/metrics`, { headers: { 'x-forwarded-for': '198.51.100.7' } })
    expect(await response.text()).toContain(
      'grantry_requests_total{endpoint="unknown",method="GET",status="404",reason="endpoint_unknown"} 1',
    )
  })

  test('it ends with the server', async () => {
    const port = await freePort()
    const server = await start({ metrics: { port } })
    await server.close(1)
    await expect(fetch(`http://127.0.0.1:${port}/metrics`)).rejects.toThrow()
    servers.length = 0
  })

  test('a busy port ends the start with one sentence, and nothing listens', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as { port: number }
    const main = await freePort()
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
])('a wrong setting %j is one sentence with its path', (metrics, sentence) => {
  expect(() => loadedWith({ metrics })).toThrow(sentence)
})
