// The ready server on each runtime, whose users sign in at another provider: openid-client, and the limits of its requests.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeJwt } from '@grantry/core'
import { basic, sha256Of } from '@grantry/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startProgram } from '../contract/program.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { describeWithRuntime, runtimeExecutable } from '../support/runtime-describe.ts'
import { createHttpBrowser } from '../support/sign-in.ts'
import { type DoubleServer, startDoubleServer } from '../upstream/double-server.ts'
import { readyServerProgram } from './ready-server.ts'

const redirectUri = 'https://shop.example.com/callback'

const configurationOf = (issuer: string, { issuer: upstream }: DoubleServer) => ({
  issuer,
  storage: { driver: 'memory' },
  clients: [
    {
      clientId: 'shop',
      secrets: [{ sha256: sha256Of('shop-secret') }],
      grantTypes: ['authorization_code'],
      scopes: ['openid', 'profile'],
      redirectUris: [redirectUri],
      requireConsent: false,
    },
  ],
  scopes: [{ name: 'profile', identity: true, claims: ['name'] }],
  plugins: [
    {
      name: 'sign-in',
      passwords: false,
      providers: [
        { name: 'acme', issuer: upstream, clientId: 'grantry', clientSecret: 'secret', allowPrivateAddresses: true },
      ],
    },
  ],
})

function testOn([command = '', ...parameters]: readonly string[]): void {
  let upstream: DoubleServer
  let directory = ''
  beforeAll(async () => {
    upstream = await startDoubleServer({ claims: { name: 'Alice', amr: ['hwk'] } })
    directory = await mkdtemp(join(tmpdir(), 'grantry-upstream-'))
  })
  afterAll(() => Promise.all([upstream?.close(), rm(directory, { recursive: true, force: true })]))

  test('a user signs in at another provider, and the client gets the claims', async () => {
    const port = await reservedPort()
    const issuer = `http://127.0.0.1:${port}`
    const file = join(directory, 'grantry.config.json')
    await writeFile(file, JSON.stringify(configurationOf(issuer, upstream)))
    const server = await startProgram(command, [...parameters, await readyServerProgram(), file, String(port)])
    try {
      const query = { client_id: 'shop', response_type: 'code', scope: 'openid profile', redirect_uri: redirectUri }
      const page = await createHttpBrowser().visit(
        `${issuer}/connect/authorize?${new URLSearchParams(query)}`,
        redirectUri,
      )
      const code = new URL(page.url).searchParams.get('code') ?? ''
      const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
      const init = {
        method: 'POST',
        headers: { authorization: basic(['shop', 'shop-secret']) },
        body: new URLSearchParams(form),
      }
      const tokens = (await (await fetch(`${issuer}/connect/token`, init)).json()) as Record<string, string>
      expect(decodeJwt(tokens.id_token ?? '')?.claims).toMatchObject({ idp: 'acme', amr: ['hwk'] })
      const headers = { authorization: `Bearer ${tokens.access_token}` }
      const userinfo = await fetch(`${issuer}/connect/userinfo`, { headers })
      expect(await userinfo.json()).toMatchObject({ name: 'Alice' })
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
