import { mkdtemp, rm } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseConfiguration } from '@grantry/core'
import { afterEach, describe, expect, test } from 'vitest'
import { banner } from '../../packages/server/src/banner.ts'
import type { GrantryServer } from '../../packages/server/src/server.ts'
import { type Configuration, configurationSchema } from '../support/configuration-schema.ts'
import { startServer } from '../support/patient-server.ts'

const ended: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ended.splice(0)) await end()
})

const sha256 = 'zVd/4lYev/I1BdsLsAYwDHzey9RrwOA8RJr6+sosJb8='

const written: Configuration = {
  issuer: 'http://127.0.0.1:8484',
  storage: { driver: 'memory' },
  clients: [
    { clientId: 'web', secrets: [{ sha256 }], grantTypes: ['client_credentials', 'password'], scopes: ['api1'] },
    { clientId: 'gone', enabled: false, grantTypes: [], scopes: [] },
  ],
  scopes: [{ name: 'api1', secrets: [{ sha256 }] }, { name: 'api2' }],
  users: [
    {
      sub: '1',
      username: 'alice',
      password: '$argon2id$v=19$m=19456,t=2,p=1$Z3JhbnRyeS1kZW1vLWFsaQ$Jd4jhaelCjNTxvEYiwY3IVLLjXeXMjSqtBdhpK7V4fk',
    },
  ],
}

const check = (more: object) => parseConfiguration(configurationSchema, { ...written, ...more }, '')

/** Starts a configured server, or the demo. */
async function start(more?: object): Promise<GrantryServer> {
  const directory = await mkdtemp(join(tmpdir(), 'grantry-'))
  const loaded = more && { configuration: check(more), file: '/etc/grantry.config.json', directory }
  const server = await startServer({ loaded, directory, port: 0, observe: () => {} })
  ended.push(() => server.close(0))
  ended.push(() => rm(directory, { recursive: true }))
  return server
}

/** Like `fetch`, which cannot set `Host`. */
function get(server: GrantryServer, path: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port: server.running.port, path, headers, agent: false }, (response) => {
      response.resume()
      resolve(response)
    })
      .on('error', reject)
      .end()
  })
}

describe('with a configuration', () => {
  test.each([{}, { console: false }])('the console is off by default (%j)', async (more) => {
    const server = await start(more)
    for (const path of ['/console', '/console/main.js', '/console/setup.json', '/console/events']) {
      expect((await get(server, path)).statusCode).toBe(404)
    }
    expect(server.consoleUrl).toBeUndefined()
    expect(banner(server, [], false)).not.toContain('console')
  })

  test.each([true, {}, { remote: false }])(
    'console: %j enables it, and the banner shows its address',
    async (value) => {
      const server = await start({ console: value })
      expect((await get(server, '/console')).statusCode).toBe(200)
      expect(banner(server, [], false)).toContain(`\nconsole    http://127.0.0.1:${server.running.port}/console\n`)
    },
  )

  test('the setup of the page contains no secrets, hashes, users or disabled clients', async () => {
    const server = await start({ console: true })
    const text = await (await fetch(`http://127.0.0.1:${server.running.port}/console/setup.json`)).text()
    const setup = JSON.parse(text)
    expect(setup.clients).toEqual([
      {
        clientId: 'web',
        public: false,
        grantTypes: ['client_credentials', 'password'],
        scopes: ['api1'],
        redirectUris: [],
      },
    ])
    expect(setup.apis).toEqual(['api1'])
    expect(setup).not.toHaveProperty('demo')
    expect(setup).not.toHaveProperty('dpopAlgorithms')
    for (const secret of [sha256, 'argon2', 'alice', 'demo-secret', 'gone']) expect(text).not.toContain(secret)
  })

  test('the setup of the page contains the algorithms of DPoP proofs', async () => {
    const server = await start({ console: true, plugins: [{ name: 'dpop', algorithms: ['PS256'] }] })
    const setup = await (await fetch(`${server.consoleUrl}/setup.json`)).json()
    expect(setup.dpopAlgorithms).toEqual(['PS256'])
  })

  test('access depends on the address that a trusted proxy reports', async () => {
    const server = await start({ console: { remote: true }, trustedProxies: 1 })
    const host = { host: '127.0.0.1:8484', 'x-forwarded-for': '203.0.113.9' }
    expect((await get(server, '/console', host)).statusCode).toBe(200)
    const closed = await start({ console: true, trustedProxies: 1 })
    expect((await get(closed, '/console', host)).statusCode).toBe(403)
  })

  test('a foreign Host is refused in a real request, too', async () => {
    const server = await start({ console: true })
    expect((await get(server, '/console', { host: 'attacker.example' })).statusCode).toBe(403)
    expect((await get(server, '/console', { host: 'localhost' })).statusCode).toBe(200)
  })

  test.each([
    ['yes', 'console must be true, false, or an object like { "remote": true }'],
    [{ remote: 'yes' }, 'console.remote must be true or false'],
    [{ remot: true }, 'console.remot'],
  ])('an invalid value is reported with its path (%j)', (value, sentence) => {
    expect(() => check({ console: value })).toThrow(sentence)
  })
})

describe('in the demo', () => {
  test('the console is on, and the public secrets are filled in', async () => {
    const server = await start()
    const response = await fetch(`${server.consoleUrl}/setup.json`)
    const { demo, clients, grants } = await response.json()
    expect(demo.clients).toEqual({ demo: 'demo-secret', 'demo-jwt': 'demo-secret' })
    expect(demo.apis).toEqual({ api1: 'api1-secret', api2: 'api2-secret' })
    expect(clients.map(({ clientId }: { clientId: string }) => clientId)).toEqual(['demo', 'demo-jwt', 'demo-spa'])
    expect(grants).toContainEqual({
      grantType: 'urn:example:badge',
      scope: 'required',
      fields: [{ name: 'badge_id', required: true }],
    })
  })
})

test('a connected page does not delay the shutdown: its stream ends properly', async () => {
  const server = await start({ console: true })
  const { body } = await fetch(`http://127.0.0.1:${server.running.port}/console/events`)
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  expect((await reader?.read())?.value).toContain('retry:')
  // Only the console itself ends it before the time limit of the test. A cut connection would reject.
  const closed = server.close(3600)
  let last = await reader?.read()
  while (last?.done === false) last = await reader?.read()
  expect(last?.done).toBe(true)
  await closed
  ended.shift()
})
