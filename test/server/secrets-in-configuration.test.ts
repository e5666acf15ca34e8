import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashPassword } from '@grantry/users/password-hash'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { main } from '../../packages/server/src/cli.ts'
import { loadConfiguration } from '../../packages/server/src/configuration/load.ts'
import type { GrantryServer } from '../../packages/server/src/server.ts'
import { startServer } from '../support/patient-server.ts'

const directory = mkdtempSync(join(tmpdir(), 'grantry-secrets-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const digest = (algorithm: 'sha256' | 'sha512', secret = 'web-secret') =>
  createHash(algorithm).update(secret).digest('base64')
const good = { sha256: digest('sha256') }

const web = { clientId: 'web', secrets: [good], grantTypes: ['client_credentials', 'password'], scopes: ['api1'] }
const valid = {
  issuer: 'http://127.0.0.1:8484',
  storage: { driver: 'memory' },
  clients: [web],
  scopes: [{ name: 'api1' }],
}

let count = 0
function file(content: object): string {
  count += 1
  const path = join(directory, `c${count}.json`)
  writeFileSync(path, JSON.stringify(content))
  return path
}

describe('an invalid configuration ends the start', () => {
  let printed = ''
  beforeEach(() => {
    printed = ''
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      printed += String(text)
      return true
    })
  })
  // A refused start leaves its listeners until the process ends. In this process, Node.js would warn after ten.
  const signals = ['SIGTERM', 'SIGINT'] as const
  const kept = signals.map((signal) => process.listeners(signal))
  afterEach(() => {
    vi.restoreAllMocks()
    for (const [index, signal] of signals.entries()) {
      for (const listener of process.listeners(signal)) {
        if (!kept[index]?.includes(listener)) process.removeListener(signal, listener)
      }
    }
  })

  /** Returns the message without the names of the program and the file. */
  async function refusal(content: object): Promise<string> {
    const path = file(content)
    expect(await main(['serve', '--port', '0', '--log-format', 'text', '--config', path])).toBe(1)
    const start = `grantry: ${path}: `
    expect(printed.startsWith(start)).toBe(true)
    expect(printed.trim().split('\n')).toHaveLength(1)
    return printed.slice(start.length).trimEnd()
  }

  const hex = createHash('sha256').update('web-secret').digest('hex')
  const malformed: readonly (readonly [string, object, string])[] = [
    ['a sha256 that is too short', { sha256: 'dG9vIHNob3J0' }, 'dG9vIHNob3J0'],
    ['a sha256 that is too long', { sha256: digest('sha512') }, digest('sha512')],
    ['hex', { sha256: hex }, hex],
    ['base64url', { sha256: digest('sha256').replaceAll('/', '_') }, digest('sha256').slice(-12)],
    ['the secret itself', { sha256: 'web-secret' }, 'web-secret'],
    ['a SHA-256 under sha512', { sha512: digest('sha256') }, digest('sha256')],
    ['no hash', { expiresAt: 1_900_000_000 }, '1900000000'],
    ['an expiry that is not a date', { ...good, expiresAt: 'tomorrow' }, 'tomorrow'],
  ]

  // The malformed secret is the second one of the second owner, after a valid one.
  test.each(malformed)('a secret of a client: %s', async (_what, secret, value) => {
    const sentence = await refusal({ ...valid, clients: [web, { ...web, clientId: 'b', secrets: [good, secret] }] })
    expect(sentence).toMatch(
      /^clients\[1\] \("[\w-]+"\): secrets\[1\](?:\.(?:sha256|sha512|expiresAt) is | has neither sha256)/u,
    )
    expect(sentence).not.toContain(value)
  })

  test.each(malformed)('a secret of a scope: %s', async (_what, secret, value) => {
    const sentence = await refusal({ ...valid, scopes: [{ name: 'api1' }, { name: 'b', secrets: [good, secret] }] })
    expect(sentence).toMatch(
      /^scopes\[1\] \("[\w-]+"\): secrets\[1\](?:\.(?:sha256|sha512|expiresAt) is | has neither sha256)/u,
    )
    expect(sentence).not.toContain(value)
  })

  test.each(['sha256', 'sha512'])('an empty %s', async (name) => {
    const secrets = [{ [name]: '' }]
    expect(await refusal({ ...valid, clients: [{ ...web, secrets }] })).toMatch(
      /^clients\[0\] \("web"\): secrets\[0\]\.sha(?:256|512) is not/u,
    )
    printed = ''
    expect(await refusal({ ...valid, scopes: [{ name: 'a', secrets }] })).toMatch(
      /^scopes\[0\] \("[\w-]+"\): secrets\[0\]\.sha(?:256|512) is not/u,
    )
  })

  test.each([
    ['text instead of the array', 'web-secret', /^clients\[0\] \("web"\): secrets must be an array/u],
    [
      'a mistyped name',
      [{ sha265: 'web-secret' }],
      /^clients\[0\] \("web"\): secrets.*sha265.*did you mean sha256\?$/u,
    ],
  ])('%s is reported without the value', async (_what, secrets, sentence) => {
    expect(await refusal({ ...valid, clients: [{ ...web, secrets }] })).toMatch(sentence)
    expect(printed).not.toContain('web-secret')
  })

  test.each([
    ['clients', { clients: [null] }],
    ['scopes', { scopes: [null] }],
  ])('a null entry in %s is reported with its path, not as a TypeError of JavaScript', async (list, more) => {
    const sentence = await refusal({ ...valid, ...more })
    expect(sentence).toContain(`${list}[0]`)
    expect(sentence).not.toMatch(/destructure|cannot read/iu)
  })

  const { clients: _, ...withoutClients } = valid
  test.each([
    ['an issuer with a slash', { ...valid, issuer: 'http://127.0.0.1:8484/' }, 'issuer must not end with a slash'],
    ['a tolerance', { ...valid, clockTolerance: 61 }, 'clockTolerance must be 0 to 60 seconds'],
    [
      'a mistyped name before the option that is missing because of it',
      { ...withoutClients, client: [web] },
      'client is not a known option; did you mean clients?',
    ],
    ['a missing option', withoutClients, 'clients is required'],
    ['a limit with a unit', { ...valid, bodyLimit: '20 kB' }, 'bodyLimit must be a number of bytes'],
    ['a limit of zero', { ...valid, bodyLimit: 0 }, 'bodyLimit must be at least 1'],
    ['a fractional limit', { ...valid, bodyLimit: 1.5 }, 'bodyLimit must be a whole number'],
    ['abuse control as a number', { ...valid, abuseControl: 5 }, 'abuseControl must be an object, not a number'],
    ['a switch as text', { ...valid, abuseControl: { enabled: 'yes' } }, 'abuseControl.enabled must be true or false'],
    [
      'zero failures',
      { ...valid, abuseControl: { passwords: { perUser: { failures: 0 } } } },
      'abuseControl.passwords.perUser.failures must be a whole number from 1 to 1000000',
    ],
    [
      'a mistyped limit',
      { ...valid, abuseControl: { passwords: { perUsr: {} } } },
      'abuseControl.passwords.perUsr is not a known option; did you mean perUser?',
    ],
    [
      'a limit of an earlier design',
      { ...valid, abuseControl: { passwords: { perUserAndAddress: { attempts: 5 } } } },
      'abuseControl.passwords.perUserAndAddress.attempts is not a known option here; known options: failures, window',
    ],
    [
      'a part that is larger than the whole',
      { ...valid, abuseControl: { passwords: { perClient: { failures: 5, perAddress: 6 } } } },
      'abuseControl.passwords.perClient must have a perAddress of at most failures',
    ],
    [
      'a window without length',
      { ...valid, abuseControl: { validation: { window: 0 } } },
      'abuseControl.validation.window must be a whole number of seconds from 1 to 315360000 (ten years)',
    ],
    [
      'a limit that is neither numbers nor false',
      { ...valid, abuseControl: { credentials: 10 } },
      'abuseControl.credentials must be an object, not a number',
    ],
  ])('an error of the provider names the file only: %s', async (_what, content, sentence) => {
    expect(await refusal(content)).toBe(sentence)
  })
})

describe('valid settings reach the provider', () => {
  const servers: GrantryServer[] = []
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close(0)))
  })

  async function send(content: object) {
    const loaded = await loadConfiguration(file(content), {})
    const server = await startServer({ loaded, port: 0, observe: () => {} })
    servers.push(server)
    return async (body: string, more: Record<string, string> = {}) => {
      const headers = {
        authorization: `Basic ${btoa('web:web-secret')}`,
        'content-type': 'application/x-www-form-urlencoded',
        ...more,
      }
      const url = `http://127.0.0.1:${server.running.port}/connect/token`
      const response = await fetch(url, { method: 'POST', headers, body })
      return { status: response.status, headers: response.headers, body: await response.json() }
    }
  }

  const credentials = 'grant_type=client_credentials&scope=api1'

  test.each([
    ['a SHA-256', 200, good],
    ['a SHA-512', 200, { sha512: digest('sha512') }],
    ['a future expiry', 200, { ...good, expiresAt: '2999-01-01T00:00:00Z' }],
    ['a past expiry', 401, { ...good, expiresAt: '2001-01-01T00:00:00Z' }],
  ])('the server starts with a secret with %s, and responds with %d', async (_what, status, secret) => {
    const post = await send({ ...valid, clients: [{ ...web, secrets: [secret] }] })
    expect(await post(credentials)).toMatchObject({ status })
  })

  test('a form longer than bodyLimit is rejected, one of exactly that length is accepted', async () => {
    const post = await send({ ...valid, bodyLimit: credentials.length })
    expect(await post(credentials)).toMatchObject({ status: 200 })
    expect(await post(`${credentials}&`)).toMatchObject({ status: 413, body: { error: 'invalid_request' } })
    const short = await send({ ...valid, bodyLimit: 20 })
    expect(await short(credentials)).toMatchObject({ status: 413, body: { error: 'invalid_request' } })
  })

  test('after abuseControl.passwords.perUserAndAddress.failures wrong passwords the next one gets 429, for this user only', async () => {
    const password = await hashPassword('right')
    const users = ['alice', 'bob'].map((username) => ({ sub: username, username, password }))
    const limits = { perUserAndAddress: { failures: 1, window: 77 } }
    const post = await send({ ...valid, users, abuseControl: { passwords: limits } })
    const guess = (username: string, password: string) =>
      post(`grant_type=password&username=${username}&password=${password}&scope=api1`)
    expect(await guess('alice', 'wrong')).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    const second = await guess('alice', 'wrong')
    expect(second).toMatchObject({ status: 429, body: { error: 'slow_down' } })
    // Until the configured window ends.
    const retryAfter = Number(second.headers.get('retry-after'))
    expect(retryAfter).toBeGreaterThanOrEqual(1)
    expect(retryAfter).toBeLessThanOrEqual(77)
    expect(await guess('bob', 'right')).toMatchObject({ status: 200 })
  })

  test.each([
    ['on by default', {}, 429],
    ['off if it is disabled', { enabled: false }, 401],
  ])('the limit of failed clients is %s', async (_, more, status) => {
    // A window that is longer than the test.
    const credentials = { perClientAndAddress: { window: 315_360_000 } }
    const post = await send({ ...valid, abuseControl: { ...more, credentials } })
    const wrong = () => post('grant_type=client_credentials', { authorization: 'Basic d2ViOndyb25n' })
    for (let count = 0; count < 10; count += 1) expect(await wrong()).toMatchObject({ status: 401 })
    expect(await wrong()).toMatchObject({ status })
  })
})
