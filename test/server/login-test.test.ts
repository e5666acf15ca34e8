// `grantry login test`: an authorization code flow on loopback, with a running server.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hashSecret } from '@grantry/core'
import { hashPassword } from '@grantry/users/password-hash'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { loadConfiguration } from '../../packages/server/src/configuration/load.ts'
import { loginProblem } from '../../packages/server/src/login-test/problem.ts'
import { sharedDirectory } from '../support/directory.ts'
import { eventually } from '../support/eventually.ts'
import { startServer } from '../support/patient-server.ts'
import { runProgram } from '../support/program.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { createHttpBrowser } from '../support/sign-in.ts'
import { root } from './running-command.ts'
import { run } from './running-program.ts'

const directory = sharedDirectory('login-test')
const file = join(directory, 'grantry.config.json')
const secret = 'a-secret-of-the-web-client-0123456789'
let issuer = ''

beforeAll(async () => {
  issuer = `http://127.0.0.1:${await reservedPort()}`
  const grantTypes = ['authorization_code']
  const client = { grantTypes, scopes: ['openid', 'profile'], redirectUris: ['http://127.0.0.1/callback'] }
  const configuration = {
    issuer,
    storage: { driver: 'filesystem', directory: './data', fsync: false },
    users: [{ sub: '1', username: 'alice', password: await hashPassword('wonderland'), claims: { name: 'Alice' } }],
    plugins: [{ name: 'sign-in' }],
    clients: [
      { clientId: 'web', secrets: [hashSecret(secret)], ...client },
      { clientId: 'app', public: true, ...client },
      { clientId: 'off', public: true, enabled: false, ...client },
      { clientId: 'machine', secrets: [hashSecret(secret)], grantTypes: ['client_credentials'], scopes: [] },
      { clientId: 'far', public: true, ...client, redirectUris: ['https://far.example.com/callback'] },
    ],
  }
  writeFileSync(file, JSON.stringify(configuration), { mode: 0o600 })
  const server = await startServer({ loaded: await loadConfiguration(file, {}), observe: () => {} })
  return () => server.close(0)
})

/** Starts the command, and returns the URL that it prints. */
async function started(clientId: string, ...more: readonly string[]) {
  const line = ['login', 'test', '--client', clientId, '--no-browser', '--config', file, ...more]
  const program = runProgram([process.execPath, `${root}/scripts/start.js`, ...line], {
    cwd: directory,
    environment: {},
    input: clientId === 'web' ? secret : '',
  })
  onTestFinished(() => program.signal('SIGKILL'))
  await eventually(() => expect(program.output().err).toContain('/connect/authorize'))
  const [url = ''] = /http:\S+\/connect\/authorize\S+/u.exec(program.output().err) ?? []
  const redirectUri = new URL(url).searchParams.get('redirect_uri') ?? ''
  return { program, url, redirectUri }
}

/** Signs alice in on the pages of the server, and returns the URL of the response to the client. */
async function responseTo(url: string, redirectUri: string, decision = 'allow'): Promise<string> {
  const { visit, submit } = createHttpBrowser()
  const page = await visit(url, redirectUri)
  const consent = await submit(page.html, { username: 'alice', password: 'wonderland' }, redirectUri)
  return (await submit(consent.html, { decision }, redirectUri)).url
}

describe('grantry login test', () => {
  test.each([
    ['web', 'with the secret from standard input'],
    ['app', 'without a secret'],
  ])('signs in as the client %s, %s', async (clientId) => {
    const { program, url, redirectUri } = await started(clientId)
    expect(redirectUri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/u)
    const shown = await fetch(await responseTo(url, redirectUri))
    expect([shown.status, shown.headers.get('content-security-policy')]).toEqual([
      200,
      "default-src 'none'; frame-ancestors 'none'",
    ])
    expect(await program.ended).toBe(0)
    const { out, err } = program.output()
    expect(out).toMatch(/^The login works\.\n\nscope +openid profile\n/u)
    expect(out).toMatch(/^sub +1\nname +Alice$/mu)
    expect(`${out}${err}`).not.toMatch(/eyJ|a-secret/u)
  })

  test('prints the tokens only if it is asked to', async () => {
    const { program, url, redirectUri } = await started('app', '--json', '--tokens')
    await fetch(await responseTo(url, redirectUri))
    expect(await program.ended).toBe(0)
    expect(JSON.parse(program.output().out)).toMatchObject({
      scope: 'openid profile',
      identity: { sub: '1', aud: 'app' },
      userinfo: { name: 'Alice' },
      tokens: { access_token: expect.any(String), id_token: expect.stringMatching(/^eyJ/u) },
    })
  })

  test('ignores a response of another request, and other paths', async () => {
    const { program, url, redirectUri } = await started('app')
    const statuses = await Promise.all(
      ['?code=x&state=other', '?error=access_denied', 'x?code=x'].map(
        async (rest) => (await fetch(redirectUri + rest)).status,
      ),
    )
    expect(statuses).toEqual([400, 400, 404])
    await fetch(await responseTo(url, redirectUri))
    expect(await program.ended).toBe(0)
  })

  test('waits on after a request without a code, by HEAD or for a favicon', async () => {
    const { program, url, redirectUri } = await started('app')
    const state = new URL(url).searchParams.get('state')
    const withState = `${redirectUri}?state=${state}`
    expect((await fetch(withState)).status).toBe(400)
    expect((await fetch(`${withState}&code=x`, { method: 'HEAD' })).status).toBe(404)
    expect((await fetch(new URL('/favicon.ico', redirectUri))).status).toBe(404)
    await fetch(await responseTo(url, redirectUri))
    expect(await program.ended).toBe(0)
  })

  test('says that the secret is wrong', () => {
    const challenge = Object.assign(new Error('a challenge'), { code: 'OAUTH_WWW_AUTHENTICATE_CHALLENGE' })
    expect(loginProblem(challenge, issuer)).toBe('the server refused the client; check the secret')
  })

  test('says why the server refused', async () => {
    const { program, url, redirectUri } = await started('app')
    await fetch(await responseTo(url, redirectUri, 'deny'))
    expect(await program.ended).toBe(1)
    expect(program.output().err).toMatch(/\ngrantry: the server answered access_denied[^\n]*\n$/u)
  })

  test.each([
    [['--client', 'unknown'], 'no client unknown is configured; check the spelling'],
    [['--client', 'off'], 'the client off is disabled; enable it first'],
    [['--client', 'machine'], 'the client machine signs no users in; add authorization_code to its grantTypes'],
    [['--client', 'far'], 'the client far has no redirect URI on this machine; add http://127.0.0.1/callback'],
    [['--client', 'app', '--redirect-uri', 'http://127.0.0.1/other'], 'is not a redirect URI of the client app'],
    [['--client', 'app', '--redirect-uri', 'https://far.example.com/'], 'is not a redirect URI of the client app'],
    [['--client', 'app', '--wait', '1', '--no-browser'], 'there was no response in 1 seconds'],
  ])('%j is refused: %s', async (line, sentence) => {
    const { code, out, err } = await run(['login', 'test', ...line, '--config', file], directory)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain(sentence)
  })

  test('says that no server listens', async () => {
    const file = join(directory, 'other.json')
    const redirectUris = ['http://127.0.0.1/']
    const clients = [{ clientId: 'app', public: true, grantTypes: ['authorization_code'], redirectUris }]
    const nowhere = `http://127.0.0.1:${await reservedPort()}`
    writeFileSync(file, JSON.stringify({ issuer: nowhere, clients }), { mode: 0o600 })
    const { code, err } = await run(['login', 'test', '--client', 'app', '--config', file], directory)
    expect([code, err]).toEqual([1, `grantry: no server listens at ${nowhere}; start it with grantry serve\n`])
  })
})
