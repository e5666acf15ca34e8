// Tenants of the ready server on each runtime: by path, and by the header Host.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { decodeJwt } from '@grantry/core'
import { basic, sha256Of } from '@grantry/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startProgram } from '../contract/program.ts'
import { bundle } from '../support/bundle.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { describeWithRuntime, runtimeExecutable } from '../support/runtime-describe.ts'

let bundled: Promise<string> | undefined
const program = (): Promise<string> => {
  bundled ??= bundle(new URL('./programs/ready-server.ts', import.meta.url))
  return bundled
}

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

function testOn([command = '', ...parameters]: readonly string[]): void {
  let directory = ''
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'grantry-tenants-'))
  })
  afterAll(() => rm(directory, { recursive: true, force: true }))

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
    const server = await startProgram(command, [...parameters, await program(), file, String(port)])
    try {
      const issuerOf = (name: string) => (by === 'path' ? `${issuer}/t/${name}` : `https://${name}`)
      for (const name of names) {
        const at = issuerOf(name)
        expect(await tokenAt(port, at, `secret of ${name}`)).toEqual({ status: 200, issuer: at })
        for (const elsewhere of [issuer, ...names.filter((other) => other !== name).map(issuerOf)]) {
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
