// Browsers that ask the ready server for a tenant that does not exist get a page, as for a path without an endpoint.
import { request as httpRequest } from 'node:http'
import { parseConfiguration } from '@grantry/core'
import { afterEach, describe, expect, test } from 'vitest'
import type { ServerEvent } from '../../packages/server/src/observability/server-event.ts'
import type { GrantryServer } from '../../packages/server/src/server.ts'
import { configurationSchema } from '../support/configuration-schema.ts'
import { startServer } from '../support/patient-server.ts'

const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const events: ServerEvent[] = []
let server: GrantryServer | undefined
afterEach(async () => {
  await server?.close(0)
  events.length = 0
})

async function start(tenants: object): Promise<void> {
  const configuration = parseConfiguration(
    configurationSchema,
    {
      issuer: 'https://id.example.com',
      storage: { driver: 'memory' },
      clients: [],
      administration: true,
      plugins: [{ name: 'sign-in' }],
      tenants,
    },
    '',
  )
  const loaded = { configuration, file: 'grantry.config.json', directory: '.' }
  server = await startServer({ loaded, port: 0, observe: (event) => void events.push(event) })
}

const get = (path: string, headers: Readonly<Record<string, string>>) =>
  new Promise<{ readonly status: number; readonly type: string; readonly text: string }>((resolve, reject) => {
    const sent = httpRequest({ path, port: server?.running.port, headers })
    sent.once('error', reject)
    sent.once('response', async (response) => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk)
      const type = response.headers['content-type'] ?? ''
      resolve({ status: response.statusCode ?? 0, type, text: Buffer.concat(chunks).toString() })
    })
    sent.end()
  })

/** What a browser and a program get. */
async function expectNotFound(path: string, headers: Readonly<Record<string, string>> = {}): Promise<void> {
  const page = await get(path, { accept, ...headers })
  expect([page.status, page.type]).toEqual([404, 'text/html; charset=utf-8'])
  expect(page.text).toContain('<h1>Page not found</h1>')
  expect(page.text).toContain('href="https://id.example.com/"')
  const { status, text } = await get(path, { accept: '*/*', ...headers })
  expect([status, JSON.parse(text)]).toEqual([404, { error: 'invalid_request', error_description: expect.any(String) }])
  expect(events.slice(-2)).toMatchObject([{ reason: 'endpoint_unknown' }, { reason: 'endpoint_unknown' }])
}

describe('1.103 a page for browsers that name a tenant that does not exist', () => {
  test('by the path', async () => {
    await start({ list: [{ name: 'acme' }] })
    for (const path of [
      '/t/none/connect/authorize?client_id=web',
      '/t/none/account',
      '/t/none',
      '/t/%61cme/connect/authorize',
      '/t',
      '/.well-known/oauth-authorization-server/t/none',
    ])
      await expectNotFound(path)
  })

  test('by the host, at which no endpoint of the server responds', async () => {
    await start({ by: 'host', list: [{ name: 'id.acme.example' }] })
    for (const host of ['id.none.example', 'id.acme.example.', 'a_b']) {
      await expectNotFound('/connect/authorize?client_id=web', { host })
      for (const path of ['/.well-known/openid-configuration', '/health/ready', '/account', '/connect/userinfo']) {
        const { status, text } = await get(path, { host })
        expect([path, status, text]).toEqual([path, 404, expect.stringContaining('There is no such endpoint')])
      }
    }
  })
})

test('1.103 a browser gets a page of a tenant that cannot be opened', async () => {
  const client = { clientId: 'web', public: true, grantTypes: ['authorization_code'], scopes: ['no-such-scope'] }
  await start({ list: [{ name: 'acme', clients: [client] }] })
  for (const path of ['/t/acme/connect/authorize?client_id=web', '/t/acme/account', '/t/acme']) {
    const page = await get(path, { accept })
    expect([path, page.status, page.type]).toEqual([path, 503, 'text/html; charset=utf-8'])
    expect(page.text).toContain('<h1>')
    expect(page.text).not.toContain('no-such-scope')
    const { status, text } = await get(path, { accept: '*/*' })
    expect([status, JSON.parse(text)]).toEqual([
      503,
      { error: 'temporarily_unavailable', error_description: 'The service is temporarily unavailable' },
    ])
  }
  const failures = events.flatMap((event) => (event.type === 'unhandled_failure' ? [event.reason] : []))
  expect(new Set(failures)).toEqual(new Set(['tenant_failed']))
})
