// The server needs no change for an endpoint of a plugin: it is routed, counted, logged and listed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineEndpoint, definePlugin, defineTask, parseConfiguration } from '@grantry/core'
import { basic } from '@grantry/testing'
import * as v from 'valibot'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { banner } from '../../packages/server/src/banner.ts'
import { createLog } from '../../packages/server/src/log.ts'
import type { GrantryServer } from '../../packages/server/src/server.ts'
import { nested, output, parsed } from '../observability/log-output.ts'
import { configurationSchema } from '../support/configuration-schema.ts'
import { clients, scopes, web } from '../support/fixture.ts'
import { startServer } from '../support/patient-server.ts'

let runs = 0
const greeting = definePlugin('greeting', [
  defineTask(() => {
    runs += 1
  }),
  defineEndpoint({
    name: 'greeting',
    path: '/connect/greeting',
    metadataName: 'greeting_endpoint',
    methods: ['POST', 'PUT'],
    caller: 'client',
    params: v.object({ text: v.string() }),
    handle: ({ params }) => ({ json: params, cookies: ['a=1', 'b=2'] }),
  }),
])

const directory = mkdtempSync(join(tmpdir(), 'grantry-endpoint-'))
const content = {
  issuer: 'https://id.example.com',
  storage: { driver: 'memory' },
  clients,
  scopes,
  plugins: [greeting],
  endpoints: { greeting: '/hello', accessTokenValidation: false },
}

const loadedWith = (more: object = {}) => ({
  configuration: parseConfiguration(configurationSchema, { ...content, ...more }, ''),
  file: 'grantry.config.mjs',
  directory,
})

let server: GrantryServer
const out = output()
const log = createLog(out, { level: 'info', routeOf: (name) => server.provider.paths[name] })

beforeAll(async () => {
  server = await startServer({ loaded: loadedWith(), port: 0, observe: (event) => log.observe(event) })
})
afterAll(async () => {
  await server.close(0)
  rmSync(directory, { recursive: true, force: true })
})

const send = (path: string, init: RequestInit = {}) => fetch(`http://127.0.0.1:${server.running.port}${path}`, init)

test('an endpoint of a plugin is moved by the configuration, and in the discovery document', async () => {
  const discovery = await send('/.well-known/openid-configuration')
  expect(await discovery.json()).toMatchObject({ greeting_endpoint: 'https://id.example.com/hello' })
  expect((await send('/connect/greeting', { method: 'POST' })).status).toBe(404)
})

test('a request to it is one log line with its name, path and events, and is counted under its name', async () => {
  out.lines.length = 0
  const init = { method: 'POST', headers: { authorization: basic(web) }, body: new URLSearchParams({ text: 'a' }) }
  const response = await send('/hello', init)
  expect(await response.json()).toEqual({ text: 'a' })
  expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  log.flush()
  const lines = parsed(out.lines)
  expect(lines).toMatchObject([
    { msg: 'POST /hello 200', 'grantry.endpoint': 'greeting', 'http.route': '/hello', 'grantry.client_id': 'web' },
  ])
  expect(nested(lines[0])).toEqual(['client_authentication_succeeded'])
  const metrics = await (await send('/metrics')).text()
  expect(metrics).toContain('grantry_requests_total{endpoint="greeting",method="POST",status="200",reason=""} 1')
})

test('the banner lists it with its methods', () => {
  expect(banner(server, [], false)).toContain('  POST PUT  /hello\n')
})

test.each(['/health/live', '/health/ready', '/metrics', '/console', '/console/events'])(
  'an endpoint cannot hide %s of the server',
  async (path) => {
    const loaded = loadedWith({ endpoints: { greeting: path }, console: true })
    await expect(startServer({ loaded, port: 0, observe: () => {} })).rejects.toThrow(
      `endpoints: greeting has the path ${path}, which the server uses itself`,
    )
  },
)

test('a task of a plugin runs when the server starts', () => {
  expect(runs).toBeGreaterThan(0)
})
