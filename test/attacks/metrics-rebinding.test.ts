/**
 * Attack: DNS rebinding. The browser of an operator loads a page of the attacker, the attacker points the name of that
 * page at the address of the metrics listener, and the page reads `/metrics` as its own origin. The connection is
 * legitimate; only the `Host` header names the attacker.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseConfiguration } from '@grantry/core'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import type { ServerEvent } from '../../packages/server/src/observability/server-event.ts'
import type { GrantryServer } from '../../packages/server/src/server.ts'
import { configurationSchema } from '../support/configuration-schema.ts'
import { exchange } from '../support/exchange.ts'
import { startServer } from '../support/patient-server.ts'

const directory = mkdtempSync(join(tmpdir(), 'grantry-rebinding-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))
let server: GrantryServer | undefined
afterEach(async () => {
  await server?.close(0)
  server = undefined
})

async function start(metrics: object) {
  const settings = { issuer: 'https://id.example.com', storage: { driver: 'memory' }, clients: [] }
  const configuration = parseConfiguration(configurationSchema, { ...settings, metrics: { port: 0, ...metrics } }, '')
  const events: ServerEvent[] = []
  const loaded = { configuration, file: 'grantry.config.json', directory }
  server = await startServer({ loaded, port: 0, observe: (event) => events.push(event) })
  return { port: Number(new URL(server.metrics).port), events }
}

interface Scraped {
  readonly status: number | undefined
  readonly body: string
}

/** `GET /metrics` with this `Host`, which `fetch` does not let a caller choose. */
const scrape = (port: number, host: string, path = '/metrics'): Promise<Scraped> =>
  new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, path, headers: { host } }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text
      })
      response.on('end', () => resolve({ status: response.statusCode, body }))
    })
    outgoing.on('error', reject).end()
  })

describe('the metrics listener', () => {
  test.each([
    'attacker.example',
    'attacker.example:9464',
    '127.0.0.1.attacker.example',
    'localhost.attacker.example',
    'attacker.localhost',
    'id.example.com',
    'prometheus',
  ])('rejects the host %j and shows no metric', async (host) => {
    const { port } = await start({})
    const { status, body } = await scrape(port, host)
    expect(status).toBe(421)
    expect(body).not.toContain('grantry_')
    expect(body).toContain('metrics.allowedHosts')
  })

  test.each(['Host: 127.0.0.1@attacker.example', 'Host: [::1', 'Host: 127.0.0.1/', 'Host:', 'X: no host at all'])(
    'shows no metric to a request with %j',
    async (header) => {
      const { port } = await start({})
      const text = await exchange(port, `GET /metrics HTTP/1.1\r\n${header}\r\nConnection: close\r\n\r\n`)
      expect(text).toMatch(/^HTTP\/1\.1 4(?:00|21) /u)
      expect(text).not.toContain('grantry_')
    },
  )

  test.each([
    '127.0.0.1:9464',
    '127.0.0.1',
    '10.0.0.5:9464',
    '[::1]:9464',
    '[2001:db8::5]',
    'localhost',
    'LocalHost:9464',
  ])('accepts an address or this machine as %s', async (host) => {
    const { port } = await start({})
    expect((await scrape(port, host)).status).toBe(200)
  })

  test('accepts the name that it listens on, and the configured names, in any case', async () => {
    const { port } = await start({ host: 'localhost', allowedHosts: ['grantry', 'ID-1.internal.example'] })
    for (const host of ['localhost:1', 'grantry:9464', 'GRANTRY', 'id-1.internal.example:9464']) {
      expect([host, (await scrape(port, host)).status]).toEqual([host, 200])
    }
    for (const host of ['grantry.attacker.example', 'x.grantry', 'id-2.internal.example']) {
      expect([host, (await scrape(port, host)).status]).toEqual([host, 421])
    }
  })

  test('logs a request that the adapter rejects', async () => {
    const { port, events } = await start({})
    await exchange(port, 'GET /metrics HTTP/1.1\r\nHost: a@b\r\n\r\n')
    expect(events.at(-1)).toMatchObject({ type: 'request_answered', endpoint: 'refused', status: 400 })
  })

  test('logs the rejection without the host header', async () => {
    const { port, events } = await start({})
    await scrape(port, 'attacker.example')
    expect(events.at(-1)).toMatchObject({ type: 'request_answered', endpoint: 'metrics', status: 421 })
    expect(JSON.stringify(events)).not.toContain('attacker')
  })

  test('checks the host before anything else', async () => {
    const { port } = await start({})
    expect((await scrape(port, 'attacker.example', '/elsewhere')).status).toBe(421)
    expect((await scrape(port, 'localhost', '/elsewhere')).status).toBe(404)
  })
})

test.each([
  [['grantry:9464'], 'metrics.allowedHosts[0] must be a host name without a port, like "grantry.internal"'],
  [['https://grantry'], 'metrics.allowedHosts[0] must be a host name without a port, like "grantry.internal"'],
  [['*'], 'metrics.allowedHosts[0] must be a host name without a port, like "grantry.internal"'],
  [[''], 'metrics.allowedHosts[0] must be a host name without a port, like "grantry.internal"'],
  ['grantry', 'metrics.allowedHosts must be an array of host names'],
])('rejects the setting %j with its path', async (allowedHosts, sentence) => {
  await expect(start({ allowedHosts })).rejects.toThrow(sentence)
})
