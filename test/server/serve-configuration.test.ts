import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { reservedPort } from '../support/reserved-port.ts'
import { type RunningCommand, root, startCommand } from './running-command.ts'

const directory = mkdtempSync(join(tmpdir(), 'grantry-serve-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const webSecret = 'dh/tnbsiQnvtvHPD8KuT//QRBKp36xRQJdARO+jANaM='
const basic = `Basic ${btoa('web:web-secret')}`

const plugin = `
import { defineGrant } from '${root}/packages/core/dist/index.js'
import * as v from '${root}/node_modules/valibot/dist/index.mjs'
export default () => defineGrant({
  grantType: 'urn:example:hello',
  params: v.object({ name: v.string() }),
  handle: ({ params, scopes }) => ({ subject: { sub: params.name, amr: ['hello'] }, scopes }),
})
`

const commented = `{
  // The port is that of the issuer.
  "issuer": "http://127.0.0.1:$PORT",
  "storage": { "driver": "memory" },
  "clients": [{
    "clientId": "web",
    "secrets": [{ "sha256": "\${GRANTRY_TEST_HASH}" }],
    "grantTypes": ["client_credentials", "urn:example:hello"],
    "scopes": ["api1"],
    "accessTokenFormat": "jwt",
  }],
  "scopes": [{ "name": "api1", "audience": "https://api1.example.com" }],
  "plugins": ["./hello.mjs"],
  "endpoints": { "accessTokenValidation": false },
}`

const moduleConfiguration = `
export default {
  issuer: 'http://127.0.0.1:$PORT',
  storage: { driver: 'memory' },
  clients: { find: (id: string) => id === 'web' ? { clientId: 'web', secrets: [{ sha256: '${webSecret}' }], grantTypes: ['password'], scopes: ['openid', 'profile'] } : undefined },
  users: { authenticate: ({ username }: { username: string }) => username === 'carol' ? { sub: '3' } : undefined, claims: () => ({ name: 'Carol' }) },
}
`

let server: RunningCommand | undefined
// Also runs after a failed expectation, so that no server outlives its test.
afterEach(() => server?.stop('SIGKILL'))

describe('npm start -- --config FILE', () => {
  test('serves a commented JSON file with a plugin, an environment variable and a disabled endpoint', async () => {
    const port = await reservedPort()
    writeFileSync(join(directory, 'hello.mjs'), plugin)
    writeFileSync(join(directory, 'a.json'), commented.replace('$PORT', String(port)))
    process.env.GRANTRY_TEST_HASH = webSecret
    server = await startCommand(['--config', join(directory, 'a.json')])
    const base = `http://127.0.0.1:${port}`
    const token = await fetch(`${base}/connect/token`, {
      method: 'POST',
      headers: { authorization: basic },
      body: new URLSearchParams({ grant_type: 'urn:example:hello', name: 'dave', scope: 'api1' }),
    })
    expect(token.status).toBe(200)
    const { access_token } = await token.json()
    const claims = JSON.parse(Buffer.from(access_token.split('.')[1], 'base64url').toString())
    expect(claims).toMatchObject({ iss: base, sub: 'dave', aud: 'https://api1.example.com' })
    const off = await fetch(`${base}/connect/accesstokenvalidation?token=x`)
    expect(off.status).toBe(404)
    expect(server.output().out).not.toContain('demo')
    expect(await server.stop('SIGINT')).toBe(0)
  })

  test('serves grantry.config.ts from the working directory, with a user service and a client store', async () => {
    const working = join(directory, 'working')
    mkdirSync(working)
    const port = await reservedPort()
    writeFileSync(join(working, 'grantry.config.ts'), moduleConfiguration.replace('$PORT', String(port)))
    server = await startCommand([], working)
    const base = `http://127.0.0.1:${port}`
    const token = await fetch(`${base}/connect/token`, {
      method: 'POST',
      headers: { authorization: basic },
      body: new URLSearchParams({ grant_type: 'password', username: 'carol', password: 'x', scope: 'openid profile' }),
    })
    const { access_token } = await token.json()
    const userinfo = await fetch(`${base}/connect/userinfo`, { headers: { authorization: `Bearer ${access_token}` } })
    expect(await userinfo.json()).toEqual({ sub: '3', name: 'Carol' })
    expect(await server.stop()).toBe(0)
  })
})
