// Paths that do not exist at a ready server without a sign-in: browsers get a page, programs get JSON.
import { request as httpRequest } from 'node:http'
import { parseConfiguration } from '@grantry/core'
import { afterEach, describe, expect, test } from 'vitest'
import type { ServerEvent } from '../../packages/server/src/observability/server-event.ts'
import type { GrantryServer } from '../../packages/server/src/server.ts'
import { configurationSchema } from '../support/configuration-schema.ts'
import { newDirectory } from '../support/directory.ts'
import { startServer } from '../support/patient-server.ts'

const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const directory = newDirectory()
const events: ServerEvent[] = []
let server: GrantryServer | undefined
afterEach(async () => {
  await server?.close(0)
  events.length = 0
})

async function start(more: object | 'demo'): Promise<void> {
  const observe = (event: ServerEvent) => void events.push(event)
  if (more === 'demo') {
    server = await startServer({ directory, port: 0, observe })
    return
  }
  const configuration = parseConfiguration(
    configurationSchema,
    { issuer: 'https://id.example.com', storage: { driver: 'memory' }, clients: [], ...more },
    '',
  )
  server = await startServer({ loaded: { configuration, file: 'grantry.config.json', directory }, port: 0, observe })
}

const get = (path: string, headers: Readonly<Record<string, string>>, port = server?.running.port, method = 'GET') =>
  new Promise<{ readonly status: number; readonly type: string; readonly text: string }>((resolve, reject) => {
    const sent = httpRequest({ path, port, headers, method })
    sent.once('error', reject)
    sent.once('response', async (response) => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk)
      const type = response.headers['content-type'] ?? ''
      resolve({ status: response.statusCode ?? 0, type, text: Buffer.concat(chunks).toString() })
    })
    sent.end()
  })

const page = 'text/html; charset=utf-8'

describe('1.103 a page for browsers, and JSON for programs', () => {
  test.each([
    ['without a sign-in', {}],
    ['without the page at the issuer', { homePage: false }],
    ['with the console', { console: true }],
    ['with an administration', { administration: true }],
    [
      'with device authorization',
      { plugins: [{ name: 'device-authorization', verificationUri: 'https://x.example/' }] },
    ],
    ['of the demo', 'demo'],
  ] as const)('of a server %s', async (_name, more) => {
    await start(more)
    for (const [path, status] of [
      ['/nothing', 404],
      ['/console/nothing', 404],
      ['/connect/token', 405],
    ] as const) {
      const shown = await get(path, { accept })
      expect([path, shown.status, shown.type]).toEqual([path, status, page])
      expect(shown.text).toContain('<h1>Page not found</h1>')
      const { type, text } = await get(path, { accept: '*/*' })
      expect([path, type, JSON.parse(text).error]).toEqual([path, 'application/json', 'invalid_request'])
    }
    const { text } = await get('/nothing', { accept, 'accept-language': 'ja' })
    expect(text).toContain('<html lang="ja"')
    expect(await get('/nothing', { accept }, server?.running.port, 'HEAD')).toEqual({
      status: 404,
      type: page,
      text: '',
    })
    expect(events.filter(({ type }) => type === 'unhandled_failure')).toEqual([])
  })

  test('of a tenant', async () => {
    await start({ tenants: { list: [{ name: 'acme' }] } })
    for (const path of ['/t/acme/nothing', '/t/none/nothing', '/t/none', '/t']) {
      const shown = await get(path, { accept })
      expect([path, shown.status, shown.type]).toEqual([path, 404, page])
      expect((await get(path, { accept: '*/*' })).type).toBe('application/json')
    }
  })

  test('of the metrics, for a caller who may not read them', async () => {
    await start({})
    const forwarded = { 'x-forwarded-for': '198.51.100.7' }
    const shown = await get('/metrics', { accept, ...forwarded })
    expect([shown.status, shown.type]).toEqual([404, page])
    expect((await get('/metrics', forwarded)).type).toBe('application/json')
    expect(events.filter(({ type }) => type !== 'startup_warning')).toMatchObject([
      { endpoint: 'unknown', status: 404 },
      { endpoint: 'unknown', status: 404 },
    ])
    expect((await get('/metrics', { accept })).status).toBe(200)
  })

  test('of the port of the metrics', async () => {
    await start({ metrics: { port: 0 } })
    const port = Number(new URL(String(server?.metrics)).port)
    const shown = await get('/', { accept }, port)
    expect([shown.status, shown.type]).toEqual([404, page])
    expect(shown.text).toContain('<a href="/metrics">')
    expect(await get('/', { accept }, port, 'HEAD')).toEqual({ status: 404, type: page, text: '' })
    expect((await get('/', { accept: '*/*' }, port)).type).toBe('application/json')
  })
})

test('the page of a sign-in comes before that of the server', async () => {
  await start({ plugins: [{ name: 'sign-in', pages: { name: 'Example Account' } }] })
  expect((await get('/nothing', { accept })).text).toContain('Example Account')
})
