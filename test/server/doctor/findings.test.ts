import { chmodSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Finding } from '../../../packages/server/src/doctor/finding.ts'
import { printed } from '../printed.ts'
import { client, hashed, healthy, keySet, strong, written } from './configurations.ts'

async function checked(file: string): Promise<{ readonly code: number | null; readonly findings: readonly Finding[] }> {
  const { code, out, err } = await printed('check', '--json', '--config', file)
  expect(err).toBe('')
  return { code, findings: JSON.parse(out).findings }
}

const withClient = (more: object) => ({ ...healthy, clients: [{ ...client, ...more }] })
const codeClient = { grantTypes: ['authorization_code'], redirectUris: ['https://web.example.com/cb'] }
const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()
const cheap = '$scrypt$ln=10,r=8,p=1$Z3JhbnRyeS1kZW1vLWFsaQ$sFgiX3AL3z8yx6STrVqoXgSPpEwxypo9+8v9qy0iYi0'

test('a healthy configuration has no finding', async () => {
  expect(await checked(written(healthy).file)).toEqual({ code: 0, findings: [] })
})

const cases: readonly (readonly [what: string, content: unknown, found: Partial<Finding>])[] = [
  [
    'an issuer without TLS',
    { ...healthy, issuer: 'http://id.example.com' },
    { id: 'issuer-without-tls', severity: 'error', where: 'issuer' },
  ],
  [
    'an issuer of this machine',
    { ...healthy, issuer: 'http://127.0.0.1:5000' },
    { id: 'issuer-loopback', severity: 'info', where: 'issuer' },
  ],
  [
    'a public issuer and no proxy',
    { ...healthy, trustedProxies: 0 },
    { id: 'trusted-proxies-zero', where: 'trustedProxies' },
  ],
  [
    'the secret of the demo',
    withClient({ secrets: [hashed('demo-secret')] }),
    { id: 'secret-weak', severity: 'error', where: 'clients[0].secrets[0]' },
  ],
  ['an empty secret', withClient({ secrets: [hashed('')] }), { id: 'secret-weak', where: 'clients[0].secrets[0]' }],
  [
    'a short secret as SHA-512',
    withClient({ secrets: [hashed(strong('web')), hashed('ab1', 'sha512')] }),
    { id: 'secret-weak', where: 'clients[0].secrets[1]' },
  ],
  ['the client id as the secret', withClient({ secrets: [hashed('web')] }), { id: 'secret-weak' }],
  [
    'a secret of an API that is its name and a word',
    { ...healthy, scopes: [{ name: 'api1', secrets: [hashed('api1-secret')] }] },
    { id: 'secret-weak', where: 'scopes[0].secrets[0]' },
  ],
  [
    'one secret of two',
    { ...healthy, scopes: [{ name: 'api1', secrets: client.secrets }] },
    { id: 'secret-shared', where: 'scopes[0].secrets[0]' },
  ],
  [
    'a secret that has ended',
    withClient({ secrets: [{ ...hashed(strong('old')), expiresAt: '2020-01-01T00:00:00Z' }, ...client.secrets] }),
    { id: 'secret-expired', severity: 'warning', where: 'clients[0].secrets[0]' },
  ],
  [
    'a secret that ends soon',
    withClient({ secrets: [{ ...hashed(strong('web')), expiresAt: inDays(10) }] }),
    { id: 'secret-expires-soon', where: 'clients[0].secrets[0]' },
  ],
  [
    'no secret that counts',
    withClient({ secrets: [{ ...hashed(strong('web')), expiresAt: inDays(-1) }] }),
    { id: 'secret-none-live', severity: 'error', where: 'clients[0].secrets' },
  ],
  [
    'plain PKCE',
    withClient({ ...codeClient, allowPlainCodeChallenge: true }),
    { id: 'plain-code-challenge', where: 'clients[0].allowPlainCodeChallenge' },
  ],
  [
    'the password grant',
    withClient({ grantTypes: ['client_credentials', 'password'] }),
    { id: 'password-grant', where: 'clients[0].grantTypes[1]' },
  ],
  [
    'the anonymous validation endpoint',
    { ...healthy, endpoints: {} },
    { id: 'anonymous-validation', where: 'endpoints.accessTokenValidation' },
  ],
  [
    'a wildcard',
    withClient({ ...codeClient, redirectUris: ['https://*.example.com/cb'] }),
    { id: 'redirect-wildcard', severity: 'error', where: 'clients[0].redirectUris[0]' },
  ],
  [
    'a redirect URI without TLS',
    withClient({ ...codeClient, redirectUris: ['https://web.example.com', 'http://web.example.com/cb'] }),
    { id: 'redirect-without-tls', severity: 'error', where: 'clients[0].redirectUris[1]' },
  ],
  [
    'one that only begins like loopback',
    withClient({ ...codeClient, redirectUris: ['http://127.0.0.1.example.com/cb'] }),
    { id: 'redirect-without-tls' },
  ],
  [
    'an origin without TLS',
    withClient({ allowedCorsOrigins: ['http://web.example.com'] }),
    { id: 'cors-without-tls', where: 'clients[0].allowedCorsOrigins[0]' },
  ],
  [
    'an access token of a day',
    withClient({ accessTokenLifetime: 86_400 }),
    { id: 'access-token-lives-long', where: 'clients[0].accessTokenLifetime' },
  ],
  ['a code of an hour', withClient({ ...codeClient, authorizationCodeLifetime: 3600 }), { id: 'code-lives-long' }],
  [
    'a refresh token of a year',
    withClient({
      grantTypes: ['authorization_code', 'refresh_token'],
      redirectUris: codeClient.redirectUris,
      scopes: ['api1', 'offline_access'],
      refreshToken: { absoluteLifetime: 31_536_000, slidingLifetime: 31_536_000 },
    }),
    { id: 'refresh-token-lives-long', where: 'clients[0].refreshToken' },
  ],
  [
    'a refresh token that stays',
    withClient({
      grantTypes: ['authorization_code', 'refresh_token'],
      redirectUris: codeClient.redirectUris,
      scopes: ['api1', 'offline_access'],
      refreshToken: { usage: 'reuse' },
    }),
    { id: 'refresh-token-reused' },
  ],
  [
    'a client that may do nothing',
    withClient({ grantTypes: [] }),
    { id: 'client-cannot-succeed', where: 'clients[0].grantTypes' },
  ],
  [
    'a client for codes without a redirect URI',
    withClient({ grantTypes: ['authorization_code'] }),
    { id: 'client-cannot-succeed', where: 'clients' },
  ],
  [
    'a scope that nobody may ask for',
    { ...healthy, scopes: [...healthy.scopes, { name: 'api2', audience: 'https://api2.example.com' }] },
    { id: 'scope-unused', severity: 'info', where: 'scopes[1]' },
  ],
  [
    'two APIs and no audience',
    {
      ...withClient({ scopes: ['api1', 'api2'] }),
      scopes: [{ name: 'api1', audience: 'https://api1.example.com' }, { name: 'api2' }],
    },
    { id: 'scope-without-audience', where: 'scopes[1].audience' },
  ],
  [
    'a cheap password hash',
    { ...healthy, users: [{ sub: '1', username: 'alice', password: cheap }] },
    { id: 'password-hash-cheap', where: 'users[0].password' },
  ],
  [
    'memory under a public issuer',
    { ...healthy, storage: { driver: 'memory' } },
    { id: 'store-forgets', where: 'storage.driver' },
  ],
  [
    'files without fsync',
    { ...healthy, storage: { driver: 'filesystem', directory: './data', fsync: false } },
    { id: 'store-without-fsync', where: 'storage.fsync' },
  ],
  [
    'Sentinels and no replica to wait for',
    {
      ...healthy,
      storage: { driver: 'redis', sentinels: [{ host: '127.0.0.1', port: 1 }], name: 'tokens', operationTimeout: 0.1 },
    },
    { id: 'store-without-replicas', where: 'storage.waitReplicas' },
  ],
  [
    'Redis out of reach',
    { ...healthy, storage: { driver: 'redis', url: 'redis://127.0.0.1:1', operationTimeout: 0.1 } },
    { id: 'store-unusable', severity: 'error', where: 'storage' },
  ],
  [
    'a directory of somebody else',
    { ...healthy, storage: { driver: 'filesystem', directory: '.' } },
    { id: 'store-unusable', severity: 'error' },
  ],
  ['a configuration that is wrong', { ...healthy, isuer: 'x' }, { id: 'configuration-invalid', severity: 'error' }],
  [
    'a client that is wrong',
    withClient({ redirectUris: ['https://web.example.com/#x'] }),
    { id: 'configuration-invalid' },
  ],
  ['an origin that is any', withClient({ allowedCorsOrigins: ['*'] }), { id: 'configuration-invalid' }],
  ['no JSON', '{ "issuer": ', { id: 'configuration-invalid' }],
]

describe('grantry check finds', () => {
  test.each(cases)('%s', async (_what, content, found) => {
    const { code, findings } = await checked(written(content).file)
    expect(findings).toContainEqual(expect.objectContaining(found))
    expect(code).toBe(findings.some(({ severity }) => severity === 'error') ? 1 : 0)
    // The worst first, each whole, and one sentence.
    const ranks = findings.map(({ severity }) => ['error', 'warning', 'info'].indexOf(severity))
    expect(ranks).toEqual([...ranks].sort())
    for (const { where, reason, remedy, source } of findings) {
      for (const text of [where, reason, remedy, source]) expect(text).toMatch(/^[^\n]+$/u)
    }
  })

  test.each([
    ['the key file', 'keys.json', 0o644, 'file-readable'],
    ['grantry.env', 'grantry.env', 0o640, 'file-readable'],
    ['the configuration', 'grantry.config.json', 0o620, 'file-writable'],
  ])('%s that others may reach', async (_what, name, mode, id) => {
    const { directory, file } = written(healthy)
    writeFileSync(join(directory, 'grantry.env'), 'A=1\n', { mode: 0o600 })
    chmodSync(join(directory, name), mode)
    const { code, findings } = await checked(file)
    expect(findings).toMatchObject([{ id, severity: 'error', where: join(directory, name) }])
    expect(code).toBe(1)
  })

  test('a configuration that others may read, only where it holds a secret itself', async () => {
    const content = {
      ...healthy,
      storage: { driver: 'redis', url: 'redis://127.0.0.1:1', password: 'the-redis-password', operationTimeout: 0.1 },
    }
    for (const [password, expected] of [
      ['the-redis-password', true],
      ['$' + '{GRANTRY_TEST_PASSWORD}', false],
    ] as const) {
      const { directory, file } = written({ ...content, storage: { ...content.storage, password } })
      writeFileSync(join(directory, 'grantry.env'), 'GRANTRY_TEST_PASSWORD=the-redis-password\n', { mode: 0o600 })
      chmodSync(file, 0o644)
      const { findings } = await checked(file)
      expect(findings.some(({ id, where }) => id === 'file-readable' && where === file)).toBe(expected)
    }
  })

  test('a password in a URL, with characters that a URL spells in another way', async () => {
    const url = 'redis://:the|redis^password@127.0.0.1:1'
    const { file } = written({ ...healthy, storage: { driver: 'redis', url, operationTimeout: 0.1 } })
    chmodSync(file, 0o644)
    expect((await checked(file)).findings).toContainEqual(expect.objectContaining({ id: 'file-readable', where: file }))
  })

  test('a module that has a private key in it and that others may read', async () => {
    const { keys } = JSON.parse(keySet)
    const { file } = written(`export default ${JSON.stringify({ ...healthy, keys })}`, 'grantry.config.mjs')
    chmodSync(file, 0o644)
    expect((await checked(file)).findings).toMatchObject([{ id: 'file-readable', where: file }])
  })

  test('a key ring in clear where there is a secret', async () => {
    const kept = { ...healthy, keys: {} }
    const { file } = written(kept)
    await checked(file)
    writeFileSync(file, JSON.stringify({ ...kept, keys: { encryptionSecret: strong('ring') } }))
    const { findings } = await checked(file)
    expect(findings).toMatchObject([{ id: 'keys-not-sealed', severity: 'warning', where: 'keys' }])
  })

  test('a key file that nobody has changed for two years', async () => {
    const { directory, file } = written(healthy)
    const old = Date.now() / 1000 - 2 * 365 * 86_400
    utimesSync(join(directory, 'keys.json'), old, old)
    expect((await checked(file)).findings).toMatchObject([{ id: 'key-old', where: 'keys.jwks' }])
  })

  test('clients that are kept elsewhere', async () => {
    const { file } = written(
      `export default { ...${JSON.stringify(healthy)}, clients: { find: () => undefined } }`,
      'grantry.config.mjs',
    )
    expect((await checked(file)).findings).toMatchObject([{ id: 'clients-unseen' }])
  })
})

describe('grantry check', () => {
  test('prints no secret, whatever is wrong', async () => {
    const secrets = ['demo-secret', 'the-redis-password', 'the-other-password']
    const { file } = written({
      ...withClient({ secrets: [hashed('demo-secret')] }),
      storage: {
        driver: 'redis',
        url: 'redis://:the-other-password@127.0.0.1:1',
        password: 'the-redis-password',
        operationTimeout: 0.1,
      },
    })
    for (const args of [[], ['--json']]) {
      const { out, err } = await printed('check', ...args, '--config', file)
      expect(out).toContain('secret-weak')
      for (const secret of secrets) expect(out + err).not.toContain(secret)
    }
  })

  test('in words tells where, why, what to do and where it is written', async () => {
    const { code, out } = await printed(
      'check',
      '--config',
      written({ ...healthy, issuer: 'http://id.example.com' }).file,
    )
    expect(code).toBe(1)
    expect(out).toMatch(
      /^error {4}issuer-without-tls\n {2}at {6}issuer\n {2}why {5}.+\n {2}do {6}.+\n {2}source {2}.+\n\n1 error, 0 warning, 0 info\n$/u,
    )
  })

  test('attack: a name with control characters does not reach the terminal', async () => {
    const { file } = written({
      ...healthy,
      scopes: [...healthy.scopes],
      clients: [{ ...client, redirectUris: ['http://x.example.com/\u001B[2J*'] }],
    })
    expect((await printed('check', '--config', file)).out).not.toContain('\u001B')
  })

  test('leaves nothing in the storage', async () => {
    const { readdirSync } = await import('node:fs')
    const { directory, file } = written(healthy)
    await printed('check', '--config', file)
    const files = readdirSync(join(directory, 'data'), { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    )
    expect(files.map(({ name }) => name)).toEqual(['format'])
  })
})
