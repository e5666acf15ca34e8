import { mkdtemp, rm } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseConfiguration } from '@grantry/core'
import { afterEach, describe, expect, test } from 'vitest'
import { banner } from '../../packages/server/src/banner.ts'
import { type Configuration, configurationSchema } from '../../packages/server/src/configuration/schema.ts'
import { type GrantryServer, startServer } from '../../packages/server/src/server.ts'

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
      password: '$scrypt$ln=15,r=8,p=1$Z3JhbnRyeS1kZW1vLWFsaQ$sFgiX3AL3z8yx6STrVqoXgSPpEwxypo9+8v9qy0iYi0',
    },
  ],
}

const check = (more: object) => parseConfiguration(configurationSchema, { ...written, ...more }, '')

/** A real configuration, or the demo. */
async function start(more?: object): Promise<GrantryServer> {
  const directory = await mkdtemp(join(tmpdir(), 'grantry-'))
  const loaded = more && { configuration: check(more), file: '/etc/grantry.config.json', directory }
  const server = await startServer({ loaded, directory, port: 0, observe: () => {} })
  ended.push(() => server.close(0))
  ended.push(() => rm(directory, { recursive: true }))
  return server
}

/** As `fetch`, which does not let a `Host` be written. */
function get(server: GrantryServer, path: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port: server.running.port, path, headers, agent: false }, (answer) => {
      answer.resume()
      resolve(answer)
    })
      .on('error', reject)
      .end()
  })
}

describe('with a configuration', () => {
  test.each([{}, { console: false }])('there is no console unless it is asked for (%j)', async (more) => {
    const server = await start(more)
    for (const path of ['/console', '/console/main.js', '/console/setup.json', '/console/events']) {
      expect((await get(server, path)).statusCode).toBe(404)
    }
    expect(server.consoleUrl).toBeUndefined()
    expect(banner(server, [], false)).not.toContain('console')
  })

  test.each([true, {}, { remote: false }])('console: %j serves it, and the banner says where', async (value) => {
    const server = await start({ console: value })
    expect((await get(server, '/console')).statusCode).toBe(200)
    expect(banner(server, [], false)).toContain(`\nconsole    http://127.0.0.1:${server.running.port}/console\n`)
  })

  test('the page is told of no secret, hash, user or client that is off', async () => {
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
    for (const secret of [sha256, 'scrypt', 'alice', 'demo-secret', 'gone']) expect(text).not.toContain(secret)
  })

  test('a caller whose address a trusted proxy tells is judged by that address', async () => {
    const server = await start({ console: { remote: true }, trustedProxies: 1 })
    const host = { host: '127.0.0.1:8484', 'x-forwarded-for': '203.0.113.9' }
    expect((await get(server, '/console', host)).statusCode).toBe(200)
    const closed = await start({ console: true, trustedProxies: 1 })
    expect((await get(closed, '/console', host)).statusCode).toBe(403)
  })

  test('a foreign Host is refused on the wire too', async () => {
    const server = await start({ console: true })
    expect((await get(server, '/console', { host: 'attacker.example' })).statusCode).toBe(403)
    expect((await get(server, '/console', { host: 'localhost' })).statusCode).toBe(200)
  })

  test.each([
    ['yes', 'console must be true, false, or an object like { "remote": true }'],
    [{ remote: 'yes' }, 'console.remote must be true or false'],
    [{ remot: true }, 'console.remot'],
  ])('a mistake is one sentence with its path (%j)', (value, sentence) => {
    expect(() => check({ console: value })).toThrow(sentence)
  })
})

describe('in the demo', () => {
  test('the console is there, with everything filled in that is public anyway', async () => {
    const server = await start()
    const answer = await fetch(`${server.consoleUrl}/setup.json`)
    const { demo, clients, grants } = await answer.json()
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

test('a page that listens does not hold up the end of the server: its stream ends, whole', async () => {
  const server = await start({ console: true })
  const { body } = await fetch(`http://127.0.0.1:${server.running.port}/console/events`)
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  expect((await reader?.read())?.value).toContain('retry:')
  // Nobody would end it before this time limit of the test but the console itself; a connection that is cut would reject.
  const closed = server.close(3600)
  let last = await reader?.read()
  while (last?.done === false) last = await reader?.read()
  expect(last?.done).toBe(true)
  await closed
  ended.shift()
})
