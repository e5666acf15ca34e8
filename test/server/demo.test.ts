import { execFile } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { defaultPaths, endpointNames } from '@grantry/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RunningCommand, startCommand } from './running-command.ts'

const run = promisify(execFile)

/** The commands that the demo prints below "Paste this into another terminal". */
function printedCommands(server: RunningCommand): string {
  const { out } = server.output()
  return out.slice(out.indexOf('BASE='))
}

describe('npm start without a configuration', () => {
  let server: RunningCommand
  let responses: readonly string[]

  beforeAll(async () => {
    server = await startCommand(['--port', '0'], await mkdtemp(join(tmpdir(), 'grantry-')), {
      terminal: true,
    })
    const { stdout } = await run('sh', ['-c', printedCommands(server)])
    responses = stdout.split('\n').filter((line) => line !== '' && !line.startsWith('# '))
  })

  afterAll(async () => {
    expect(await server.stop()).toBe(0)
  })

  const reply = (index: number) => JSON.parse(responses[index] ?? 'null')

  test('its commands get a token with client credentials and introspect it as an API', () => {
    expect(responses[0]).toMatch(/^[\w-]{43}$/u)
    expect(reply(1)).toMatchObject({ active: true, scope: 'api1', client_id: 'demo' })
  })

  test('its commands get tokens with the password grant and read userinfo with role as an array', () => {
    expect(reply(2)).toMatchObject({ token_type: 'Bearer', scope: 'openid profile roles offline_access api1' })
    expect(reply(3)).toMatchObject({ sub: '1', name: 'Alice Smith', role: ['admin', 'editor'] })
  })

  test('its commands get tokens with a refresh token', () => {
    expect(reply(4).refresh_token).toMatch(/^[\w-]{43}$/u)
    expect(reply(4).refresh_token).not.toBe(reply(2).refresh_token)
  })

  test('its commands get tokens with an authorization code and PKCE', () => {
    expect(reply(5)).toMatchObject({ token_type: 'Bearer', scope: 'openid profile api1' })
  })

  // OpenID Connect Discovery section 3 requires RS256.
  test('signs identity tokens with RS256', () => {
    const [header = ''] = String(reply(5).id_token).split('.')
    expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toMatchObject({ alg: 'RS256' })
  })

  test('its commands validate the identity token: every claim is a string', () => {
    expect(reply(6)).toMatchObject({ aud: 'demo-spa', sub: '1', amr: 'pwd' })
    for (const value of Object.values(reply(6))) expect(value).toBeTypeOf('string')
  })

  test('its commands validate the access token with a right and a wrong expectedScope', () => {
    expect(reply(7)).toMatchObject({ sub: '1', scope: 'openid profile api1' })
    expect(reply(8)).toMatchObject({ error: 'insufficient_scope' })
  })

  test('its commands get a token with the custom grant', () => {
    expect(reply(9)).toMatchObject({ token_type: 'Bearer', scope: 'api1' })
  })

  test('its commands revoke a token, which is then inactive', () => {
    expect(reply(10)).toEqual({ active: false })
  })

  test('its commands read the discovery documents and the public keys', () => {
    const base = /BASE=(\S+)/u.exec(server.output().out)?.[1]
    expect(responses.slice(11, 13)).toEqual([`${base}/connect/token`, `${base}/.well-known/jwks`])
    expect(reply(13).keys.length).toBeGreaterThan(0)
    expect(responses).toHaveLength(14)
  })

  test('its commands call every endpoint', () => {
    const printed = printedCommands(server)
    for (const name of endpointNames) expect(printed).toMatch(new RegExp(`BASE${defaultPaths[name]}[ ;]`, 'u'))
  })

  test('prints that it is a demo, and what it serves', () => {
    const { out } = server.output()
    expect(out).toContain('This is a demo: its secrets are public')
    expect(out).toMatch(/^demo {7}http:\/\/127\.0\.0\.1:\d+\/, where you can sign in as alice$/mu)
    for (const part of ['issuer', 'storage', 'keys', 'plugins', 'endpoints', 'warning', '/connect/introspect']) {
      expect(out).toContain(part)
    }
  })

  test('logs one line of JSON per event, without secrets and tokens', () => {
    const { err } = server.output()
    const lines = err
      .trim()
      .split('\n')
      .filter((line) => line !== 'Building...')
    expect(lines.length).toBeGreaterThan(20)
    for (const line of lines) expect(JSON.parse(line)).toHaveProperty(['event.name'])
    const used = [responses[0], ...[2, 4, 5].flatMap((index) => Object.values(reply(index)))].filter(
      (value): value is string => typeof value === 'string' && value.length > 40,
    )
    expect(used.length).toBeGreaterThan(6)
    for (const secret of [...used, 'demo-secret', 'alice-password', 'api1-secret']) expect(err).not.toContain(secret)
  })

  test('serves the liveness and readiness endpoints', async () => {
    const base = /BASE=(\S+)/u.exec(server.output().out)?.[1]
    expect((await fetch(`${base}/health/live`)).status).toBe(200)
    expect((await fetch(`${base}/health/ready`)).status).toBe(200)
    expect((await fetch(`${base}/elsewhere`)).status).toBe(404)
  })

  test('/ is an application that signs users in', async () => {
    const base = /BASE=(\S+)/u.exec(server.output().out)?.[1]
    const response = await fetch(`${base}/`)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(await response.text()).toContain('Sign in as alice')
  })

  test('there is no way to get a code without the pages', async () => {
    const base = /BASE=(\S+)/u.exec(server.output().out)?.[1]
    expect((await fetch(`${base}/demo/authorize`, { method: 'POST' })).status).toBe(404)
  })
})
