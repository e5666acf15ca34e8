// The ready server on each storage, as an operator configures it in one line: a sign-in, a refresh and a revocation, and
// the same after the server was killed.
import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { basic, sha256Of } from '@grantry/testing'
import { hashPassword } from 'grantry'
import { afterAll, expect, test } from 'vitest'
import { diskTemporaryDirectory } from '../support/directory.ts'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { startPostgresql } from '../support/postgresql-server.ts'
import { presentCertificate, privateAuthority, serverCertificate } from '../support/postgresql-tls.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { describeWithRuntime, runtimeExecutable } from '../support/runtime-describe.ts'
import { signInOverHttp } from '../support/sign-in.ts'
import { refusal } from './refused-start.ts'
import { type RunningCommand, startCommand } from './running-command.ts'

const directories: string[] = []
const servers: RunningCommand[] = []
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop('SIGKILL')))
  await Promise.all(directories.map((directory) => rm(directory, { recursive: true, force: true })))
})

const client = ['web', 'web-secret'] as const
const redirectUri = 'https://web.example.com/callback'
const scopes = ['openid', 'offline_access']

async function writeConfiguration(issuer: string, storage: object): Promise<string> {
  const directory = await mkdtemp(join(diskTemporaryDirectory(), 'grantry-storage-'))
  directories.push(directory)
  const file = join(directory, 'grantry.config.json')
  const configuration = {
    issuer,
    storage,
    clients: [
      {
        clientId: client[0],
        secrets: [{ sha256: sha256Of(client[1]) }],
        grantTypes: ['authorization_code', 'refresh_token'],
        scopes,
        redirectUris: [redirectUri],
      },
    ],
    users: [{ sub: '1', username: 'alice', password: await hashPassword('alice-password') }],
    plugins: [{ name: 'sign-in' }],
  }
  await writeFile(file, JSON.stringify(configuration), { mode: 0o600 })
  return file
}

async function start(file: string, script: readonly string[]): Promise<RunningCommand> {
  const server = await startCommand(['serve', '--config', file], undefined, { script })
  servers.push(server)
  return server
}

async function post(url: string, form: Record<string, string>) {
  const headers = { authorization: basic(client) }
  const response = await fetch(url, { method: 'POST', headers, body: new URLSearchParams(form) })
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
}

/** Signs alice in, and redeems the code. */
async function signIn(issuer: string) {
  const verifier = 'a verifier of at least forty-three characters'.replaceAll(' ', '-')
  const code_challenge = createHash('sha256').update(verifier).digest('base64url')
  const request = { client_id: client[0], redirect_uri: redirectUri, scope: scopes.join(' '), code_challenge }
  const end = await signInOverHttp(issuer, { ...request, code_challenge_method: 'S256' }, ['alice', 'alice-password'])
  const code = end.searchParams.get('code') ?? ''
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier }
  const redeem = () => post(`${issuer}/connect/token`, form)
  return { tokens: (await redeem()).body, redeem }
}

async function works(storage: object, script: readonly string[]): Promise<void> {
  const issuer = `http://127.0.0.1:${await reservedPort()}`
  const file = await writeConfiguration(issuer, storage)
  const refresh = (token: string) =>
    post(`${issuer}/connect/token`, { grant_type: 'refresh_token', refresh_token: token })

  const server = await start(file, script)
  const { tokens, redeem } = await signIn(issuer)
  const rotated = await refresh(tokens.refresh_token)
  expect(rotated.status).toBe(200)
  const revoked = await signIn(issuer)
  const revocation = await post(`${issuer}/connect/revocation`, { token: revoked.tokens.refresh_token })
  expect(revocation).toEqual({ status: 200, body: undefined })
  await server.stop('SIGKILL')

  await start(file, script)
  const refused = { status: 400, body: expect.objectContaining({ error: 'invalid_grant' }) }
  expect(await refresh(revoked.tokens.refresh_token)).toEqual(refused)
  expect((await refresh(rotated.body.refresh_token)).status).toBe(200)
  // A code that is presented again is a theft: it ends the family.
  expect(await redeem()).toEqual(refused)
  expect(await refresh(rotated.body.refresh_token)).toEqual(refused)
}

const sqlite = { driver: 'sqlite' }

describeWithPostgresql('PostgreSQL', () => {
  test('on Node.js', async () => {
    const { url } = await startPostgresql()
    await works({ driver: 'postgresql', url }, ['start.js'])
  })

  test('on Node.js, over TLS with a private authority', async () => {
    const server = await startPostgresql()
    const [ca, otherAuthority] = [privateAuthority(), privateAuthority()]
    await presentCertificate(server, serverCertificate(ca))
    const directory = await mkdtemp(join(diskTemporaryDirectory(), 'grantry-authority-'))
    directories.push(directory)
    const fileOf = async (name: string, content: string): Promise<string> => {
      await writeFile(join(directory, name), content)
      return join(directory, name)
    }
    const storage = { driver: 'postgresql', url: `${server.url}?sslmode=verify-full` }
    await works({ ...storage, ca: await fileOf('ca.pem', ca.pem) }, ['start.js'])
    const sql =
      "SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'grantry'"
    expect(await server.query(sql)).toEqual([{ ssl: true }])

    const name = `PostgreSQL at 127.0.0.1:${server.port}, database "postgres" is not available: `
    for (const wrong of [{ ca: await fileOf('other.pem', otherAuthority.pem) }, {}])
      expect(await refusal(directory, { ...storage, ...wrong })).toMatch(new RegExp(`${name}.*certificate`, 'u'))
    expect(await refusal(directory, { ...storage, ca: await fileOf('empty.pem', '') })).toContain(
      `storage.ca: ${join(directory, 'empty.pem')} contains no certificate in PEM; give the file of the authority`,
    )
  })
})

test('SQLite on Node.js', () => works(sqlite, ['start.js']))

for (const name of ['bun', 'deno']) {
  describeWithRuntime(`npm run start:${name}`, runtimeExecutable(`.bin/${name}`), () => {
    test(`SQLite on ${name}`, () => works(sqlite, ['start-on.js', name]))
  })
}
