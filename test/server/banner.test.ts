import { execFile } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parseConfiguration } from '@grantry/core'
import { afterEach, describe, expect, test } from 'vitest'
import { banner } from '../../packages/server/src/banner.ts'
import { badgeGrant } from '../../packages/server/src/demo/badge-grant.ts'
import type { GrantryServer } from '../../packages/server/src/server.ts'
import { configurationSchema } from '../support/configuration-schema.ts'
import { startServer } from '../support/patient-server.ts'
import { reservedPort } from '../support/reserved-port.ts'

const servers: GrantryServer[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close(0)))
})

/** Starts the demo if there is no issuer. */
async function start(issuer: string | undefined, port: number | undefined = 0): Promise<GrantryServer> {
  const configuration = { issuer: issuer ?? '', storage: { driver: 'memory' }, clients: [] }
  const loaded = issuer !== undefined && {
    configuration: parseConfiguration(configurationSchema, configuration, ''),
    file: '/etc/grantry.config.json',
    directory: '/etc',
  }
  const server = await startServer({
    ...(loaded && { loaded }),
    directory: await mkdtemp(join(tmpdir(), 'grantry-')),
    port,
    observe: () => {},
  })
  servers.push(server)
  return server
}

const warnings = (text: string) => text.split('\n').filter((line) => line.includes('warning'))

const red = '\u001B[31m'

const event = {
  type: 'startup_warning',
  reason: 'client_cannot_succeed',
  message: 'web cannot succeed',
  id: 'a.0',
  requestId: 'a',
  time: 0,
} as const

describe('an issuer that does not match the listener', () => {
  test.each(['http://127.0.0.1', 'http://localhost', 'http://[::1]'])(
    'warns of another port on loopback: %s',
    async (host) => {
      const server = await start(`${host}:1`)
      expect(warnings(banner(server, [], false))).toEqual([
        `warning    The issuer names port 1, but the server listens on ${server.running.port}: clients will connect to the wrong port. If a proxy listens on port 1, set trustedProxies`,
      ])
    },
  )

  test.each([
    ['http://127.0.0.1', 80],
    ['https://localhost', 443],
  ])('%s implies the port %d', async (issuer, port) => {
    expect(banner(await start(issuer), [], false)).toContain(
      `The issuer names port ${port}, but the server listens on `,
    )
  })

  test('does not warn of a public https issuer, where a proxy listens', async () => {
    expect(warnings(banner(await start('https://id.example.com'), [], false))).toEqual([])
  })

  test('does not warn if the issuer names the port', async () => {
    const port = await reservedPort()
    expect(warnings(banner(await start(`http://127.0.0.1:${port}`, port), [], false))).toEqual([])
  })

  test('does not warn in the demo', async () => {
    const server = await start(undefined)
    const text = banner(server, [], false)
    expect(text).toContain(`outbox     ${server.provider.issuer}/outbox, where the mails arrive`)
    expect(text).toContain('passkeys   off, because browsers refuse them at an IP address')
    expect(warnings(text)).toEqual([])
    expect(text).toContain('This is a demo')
  })
})

// Otherwise the banner would warn of a mismatch that the server caused itself.
test.each(['127.0.0.1', 'localhost', '[::1]'])(
  'without --port, the server listens on the port of the issuer http://%s',
  async (host) => {
    const port = await reservedPort()
    const configuration = parseConfiguration(
      configurationSchema,
      { issuer: `http://${host}:${port}`, storage: { driver: 'memory' }, clients: [] },
      '',
    )
    const loaded = { configuration, file: '/etc/grantry.config.json', directory: '/etc' }
    const server = await startServer({ loaded, observe: () => {} })
    servers.push(server)
    expect(server.running.port).toBe(port)
  },
)

describe('colour', () => {
  test('prints every warning in red', async () => {
    const text = banner(await start('http://127.0.0.1:1'), [event], true)
    expect(warnings(text)).toHaveLength(2)
    for (const line of warnings(text)) {
      expect(line.startsWith(red)).toBe(true)
      expect(line.endsWith('\u001B[0m')).toBe(true)
    }
    expect(text.split(red)).toHaveLength(3)
  })

  test('prints the demo notice in red', async () => {
    expect(banner(await start(undefined), [], true)).toContain(`${red}This is a demo`)
  })

  test.each([['http://127.0.0.1:1'], ['https://id.example.com'], [undefined]])(
    'prints no control sequence without colour: issuer %s',
    async (issuer) => {
      const text = banner(await start(issuer), [event], false)
      expect(text).toContain('warning    web cannot succeed')
      expect(text).not.toContain('\u001B')
    },
  )
})

describe('a configured server', () => {
  const sha256 = 'zVd/4lYev/I1BdsLsAYwDHzey9RrwOA8RJr6+sosJb8='
  const client = { secrets: [{ sha256 }], grantTypes: ['client_credentials'], scopes: ['openid', 'api1'] }

  async function configured(more: object): Promise<GrantryServer> {
    const issuer = 'https://id.example.com/tenant'
    const content = { issuer, storage: { driver: 'memory' }, clients: [], scopes: [{ name: 'api1' }], ...more }
    const configuration = parseConfiguration(configurationSchema, content, '')
    const loaded = { configuration, file: '/etc/grantry.config.json', directory: '/etc' }
    const server = await startServer({ loaded, port: 0, observe: () => {} })
    servers.push(server)
    return server
  }

  /** Runs what the banner prints below "Paste this into another terminal", with the secret that curl would prompt for. */
  async function pasted(server: GrantryServer): Promise<{ commands: string; responses: readonly string[] }> {
    const text = banner(server, [], false)
    const commands = text.slice(text.indexOf('Paste this into another terminal:')).split('\n').slice(1).join('\n')
    const { stdout } = await promisify(execFile)('sh', ['-c', commands.replace(' -u web ', ' -u web:demo-secret ')])
    return { commands, responses: stdout.trim().split('\n') }
  }

  test('names every plugin, including grant checks', async () => {
    const badge = badgeGrant({ ownerOf: async () => undefined })
    expect(banner(await configured({ plugins: [badge] }), [], false)).toContain(
      '\nplugins    client_credentials, password, authorization_code, proof-key, refresh_token, badge\n',
    )
  })

  // Behind a proxy the issuer has another address, but the commands must work on this machine.
  test('prints commands that can be pasted', async () => {
    const server = await configured({ clients: [{ ...client, clientId: 'web' }] })
    const { commands, responses } = await pasted(server)
    expect(commands).toContain(' -u web -d grant_type=client_credentials -d scope=api1;')
    expect(JSON.parse(responses[0] ?? '')).toEqual({ status: 'ready' })
    expect(JSON.parse(responses[1] ?? '')).toMatchObject({ issuer: 'https://id.example.com/tenant' })
    expect(responses[2]).toContain('curl prompts for its secret')
    expect(JSON.parse(responses[3] ?? '')).toMatchObject({ scope: 'api1', token_type: 'Bearer' })
  })

  test.each([
    ['is disabled', { enabled: false }],
    ['has no API', { scopes: ['openid'] }],
    [
      'may not use client credentials',
      { grantTypes: ['authorization_code'], redirectUris: ['https://web.example.com/'] },
    ],
    ['has an id with shell syntax', { clientId: '$(id)' }],
  ])('prints no command for a client that %s', async (_what, more) => {
    const { commands } = await pasted(await configured({ clients: [{ ...client, clientId: 'web', ...more }] }))
    expect(commands).not.toContain('grant_type')
  })

  test('prints no command for a disabled endpoint', async () => {
    const endpoints = { token: false, discovery: false }
    const { responses } = await pasted(await configured({ endpoints, clients: [{ ...client, clientId: 'web' }] }))
    expect(responses).toEqual(['{"status":"ready"}'])
  })
})
