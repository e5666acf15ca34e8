// Tenants of the ready server on each runtime: by path, and by the header Host.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { decodeJwt } from '@grantry/core'
import { basic, sha256Of } from '@grantry/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { answer, createBrowser, hiddenFields } from '../authorization/browser.ts'
import { startProgram } from '../contract/program.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { describeWithRuntime, runtimeExecutable } from '../support/runtime-describe.ts'
import { fetchAt } from '../tenants/fetch-at.ts'
import { readyServerProgram } from './ready-server.ts'

const tenant = (name: string, secret: string) => ({
  name,
  clients: [
    {
      clientId: 'web',
      secrets: [{ sha256: sha256Of(secret) }],
      grantTypes: ['client_credentials'],
      scopes: ['api1'],
    },
  ],
  scopes: [{ name: 'api1' }],
})

/** Requests a token at an issuer, from a server on this machine. */
async function tokenAt(port: number, issuer: string, secret: string) {
  const { host, pathname } = new URL(`${issuer}/connect/token`)
  const headers = {
    host,
    authorization: basic(['web', secret]),
    'content-type': 'application/x-www-form-urlencoded',
  }
  return new Promise<{ readonly status: number | undefined; readonly issuer: unknown }>((resolve, reject) => {
    const sent = httpRequest({ method: 'POST', path: pathname, host: '127.0.0.1', port, headers })
    sent.once('error', reject)
    sent.once('response', async (response) => {
      const body = JSON.parse((await text(response)) || '{}') as { readonly access_token?: string }
      resolve({ status: response.statusCode, issuer: decodeJwt(body.access_token ?? '')?.claims.iss })
    })
    sent.end('grant_type=client_credentials&scope=api1')
  })
}

/** The scrypt hash of `alice-password`. */
const password = '$scrypt$ln=15,r=8,p=1$Z3JhbnRyeS1kZW1vLWFsaQ$sFgiX3AL3z8yx6STrVqoXgSPpEwxypo9+8v9qy0iYi0'
const redirectUri = 'http://127.0.0.1/callback'
const spa = {
  clientId: 'spa',
  public: true,
  grantTypes: ['authorization_code'],
  scopes: ['openid'],
  redirectUris: [redirectUri],
  requireConsent: false,
}
const query = {
  client_id: 'spa',
  redirect_uri: redirectUri,
  response_type: 'code',
  scope: 'openid',
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
}

/** Signs a user in at each of two tenants, on one server. */
async function signInAtEach(by: 'path' | 'host', command: readonly string[], directory: string): Promise<void> {
  const [name = '', ...parameters] = command
  const port = await reservedPort()
  const issuer = by === 'path' ? `http://127.0.0.1:${port}` : 'https://id.example.com'
  const names = by === 'path' ? ['acme', 'beta'] : ['id.acme.example', 'id.beta.example']
  const list = names.map((tenant) => ({
    name: tenant,
    clients: [spa],
    users: [{ sub: 'alice', username: 'alice', password }],
    plugins: [{ name: 'sign-in', pages: { name: `Pages of ${tenant}` } }],
  }))
  const content = {
    issuer,
    storage: { driver: 'memory' },
    hostTimeLimit: 60,
    clients: [],
    plugins: [{ name: 'sign-in' }],
    tenants: { by, list },
  }
  const file = join(directory, `sign-in-${by}.json`)
  await writeFile(file, JSON.stringify(content))
  const server = await startProgram(name, [...parameters, await readyServerProgram(), file, String(port)])
  try {
    const [first = '', second = ''] = names.map((name) => (by === 'path' ? `${issuer}/t/${name}` : `https://${name}`))
    const browsers = new Map([first, second].map((at) => [at, createBrowser({ fetch: fetchAt(port), issuer: at })]))
    const urlAt = (at: string, more = {}) => `${at}/connect/authorize?${new URLSearchParams({ ...query, ...more })}`
    /** One browser: it has the cookies of both, also where their hosts would keep them apart. */
    const browserAt = (at: string) => {
      const browser = browsers.get(at) ?? createBrowser({ fetch: fetchAt(port), issuer: at })
      for (const { jar } of browsers.values())
        for (const [name, value] of jar) if (!browser.jar.has(name)) browser.jar.set(name, value)
      return browser
    }
    const silently = async (at: string) => answer(await browserAt(at).open(urlAt(at, { prompt: 'none' })))
    for (const at of [first, second]) {
      expect((await silently(at)).error).toBe('login_required')
      const browser = browserAt(at)
      const page = await browser.open(urlAt(at))
      expect(page.html).toContain(`Pages of ${names[at === first ? 0 : 1]}`)
      const form = { ...hiddenFields(page), username: 'alice', password: 'alice-password' }
      const done = await browser.submit(`${at}/connect/signin`, form)
      expect(answer(done).code).toBeDefined()
    }
    for (const at of [first, second]) expect((await silently(at)).code).toBeDefined()
  } finally {
    await server.stop()
  }
}

function testOn(line: readonly string[]): void {
  const [command = '', ...parameters] = line
  let directory = ''
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'grantry-tenants-'))
  })
  afterAll(() => rm(directory, { recursive: true, force: true }))

  test.each(['path', 'host'] as const)('by %s, each has its pages and its sessions', (by) =>
    signInAtEach(by, line, directory),
  )

  test.each(['path', 'host'] as const)('by %s, each has its issuer and its clients', async (by) => {
    const port = await reservedPort()
    const issuer = by === 'path' ? `http://127.0.0.1:${port}` : 'https://id.example.com'
    const names = by === 'path' ? ['acme', 'beta'] : ['id.acme.example', 'id.beta.example']
    const list = names.map((name) => tenant(name, `secret of ${name}`))
    const file = join(directory, `${by}.json`)
    const content = {
      issuer,
      storage: { driver: 'memory' },
      clients: [],
      tenants: { by, list },
    }
    await writeFile(file, JSON.stringify(content))
    const server = await startProgram(command, [...parameters, await readyServerProgram(), file, String(port)])
    try {
      const issuerOf = (name: string) => (by === 'path' ? `${issuer}/t/${name}` : `https://${name}`)
      for (const name of names) {
        const at = issuerOf(name)
        expect(await tokenAt(port, at, `secret of ${name}`)).toEqual({ status: 200, issuer: at })
        for (const elsewhere of [issuer, ...names.filter((tenant) => tenant !== name).map(issuerOf)]) {
          expect((await tokenAt(port, elsewhere, `secret of ${name}`)).status).toBe(401)
        }
      }
      expect((await tokenAt(port, issuerOf('none'), 'secret')).status).toBe(404)
    } finally {
      await server.stop()
    }
  })
}

const bun = [runtimeExecutable('.bin/bun')]
const deno = [runtimeExecutable('.bin/deno'), 'run', '--allow-all', '--no-config', '--no-lock']

describe('on Node.js', () => testOn([process.execPath]))
describeWithRuntime('on Bun', bun[0] ?? '', () => testOn(bun))
describeWithRuntime('on Deno', deno[0] ?? '', () => testOn(deno))
