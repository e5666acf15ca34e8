import { chmodSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Finding } from '../../../packages/server/src/check-rules/rule.ts'
import { printed } from '../printed.ts'
import { root } from '../running-command.ts'
import { certificateFindingCases, healthyCertificates } from './certificate-finding-cases.ts'
import { client, hashed, healthy, keySet, ofConfiguration, strong, written } from './configurations.ts'
import { findingCases, withClient } from './finding-cases.ts'
import { healthyPlugins, pluginFindingCases, withFapi2 } from './plugin-finding-cases.ts'
import { registrationFindingCases } from './registration-finding-cases.ts'
import { tenantFindingCases } from './tenant-finding-cases.ts'

async function checked(file: string): Promise<{ readonly code: number | null; readonly findings: readonly Finding[] }> {
  const { code, out, err } = await printed('check', '--json', '--config', file)
  expect(err).toBe('')
  return { code, findings: JSON.parse(out).findings }
}

test('a healthy configuration has no finding', async () => {
  expect(await checked(written(healthy).file)).toEqual({ code: 0, findings: [] })
})

test.each([...healthyPlugins, ...healthyCertificates])('plugins without a finding: %s', async (_what, content) => {
  expect(ofConfiguration(await checked(written(content).file))).toEqual([])
})

describe('grantry check finds', () => {
  test.each([
    ...findingCases,
    ...pluginFindingCases,
    ...registrationFindingCases,
    ...tenantFindingCases,
    ...certificateFindingCases,
  ])('%s', async (_what, content, found) => {
    const { code, findings } = await checked(written(content).file)
    expect(findings).toContainEqual(expect.objectContaining(found))
    expect(code).toBe(findings.some(({ severity }) => severity === 'error') ? 1 : 0)
    // Errors first. Every part is present, and on one line.
    const ranks = findings.map(({ severity }) => ['error', 'warning', 'info'].indexOf(severity))
    expect(ranks).toEqual([...ranks].sort())
    for (const { where, reason, remedy, source } of findings) {
      for (const text of [where, reason, remedy, source]) expect(text).toMatch(/^[^\n]+$/u)
    }
  })

  const ended = { ...hashed(strong('old')), expiresAt: '2020-01-01T00:00:00Z' }

  test.each([
    ['a client', withClient({ secrets: [ended], enabled: false })],
    ['a scope', { ...healthy, scopes: [{ name: 'api1', secrets: [ended], enabled: false }] }],
  ])('nothing wrong with the expired secret of %s that is disabled', async (_what, content) => {
    const ids = (await checked(written(content).file)).findings.map(({ id }) => id)
    expect(ids).toContain('secret-expired')
    expect(ids).not.toContain('secret-none-live')
  })

  const tagPlugin = `
import { defineClientAuthentication, defineFields, definePlugin } from '${root}/packages/core/dist/index.js'
import * as v from '${root}/node_modules/valibot/dist/index.mjs'
export default definePlugin('tags', [
  defineFields({ client: { tag: v.optional(v.string('must be a string')) } }),
  defineClientAuthentication({
    method: 'tag',
    consumes: ['tag'],
    present: () => undefined,
    accepts: ({ tag }) => tag !== undefined,
    verify: () => ({ reason: 'never' }),
  }),
])
`

  test('nothing wrong with a client that a plugin authenticates by a member of its own', async () => {
    const content = withClient({ tag: 'x', secrets: [] })
    const { directory, file } = written({ ...content, plugins: ['./tags.mjs'], console: true })
    writeFileSync(join(directory, 'tags.mjs'), tagPlugin)
    expect((await checked(file)).findings.map(({ id }) => id)).not.toContain('configuration-invalid')
    expect((await checked(file)).findings.filter(({ where }) => where.startsWith('clients'))).toEqual([])
    const wrong = written({ ...withClient({ tagg: 'x' }), plugins: ['./tags.mjs'] })
    writeFileSync(join(wrong.directory, 'tags.mjs'), tagPlugin)
    expect((await checked(wrong.file)).findings).toMatchObject([
      { id: 'configuration-invalid', reason: 'clients[0]: tagg is not a known option; did you mean tag?' },
    ])
  })

  test('no missing plugin if a module may contain it', async () => {
    const { directory, file } = written({ ...withClient({ jwks: {} }), plugins: ['./tags.mjs'] })
    writeFileSync(join(directory, 'tags.mjs'), tagPlugin)
    expect((await checked(file)).findings.map(({ id }) => id)).toEqual(['configuration-invalid'])
  })

  test('an invalid configuration, without the name of a library function', async () => {
    const { findings } = await checked(written({ ...healthy, issuer: 'https://ID.example.com' }).file)
    expect(findings).toMatchObject([
      { id: 'configuration-invalid', reason: expect.stringMatching(/^issuer must be written as /u) },
    ])
  })

  test.each([
    ['the key file', 'keys.json', 0o644, 'file-readable'],
    ['grantry.env', 'grantry.env', 0o640, 'file-readable'],
    ['the configuration', 'grantry.config.json', 0o620, 'file-writable'],
  ])('permissions of %s that are too wide', async (_what, name, mode, id) => {
    const { directory, file } = written(healthy)
    writeFileSync(join(directory, 'grantry.env'), 'A=1\n', { mode: 0o600 })
    chmodSync(join(directory, name), mode)
    const { code, findings } = await checked(file)
    expect(findings).toMatchObject([{ id, severity: 'error', where: join(directory, name) }])
    expect(code).toBe(1)
  })

  test('a readable configuration only if it contains a secret', async () => {
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

  test.each([
    ['redis', 'redis://:the|redis^password@127.0.0.1:1'],
    ['postgresql', 'postgresql://grantry:the|password@127.0.0.1:1/identity'],
  ])('a password in a URL of %s, with characters that URL parsing encodes', async (driver, url) => {
    const { file } = written({ ...healthy, storage: { driver, url, operationTimeout: 0.1 } })
    chmodSync(file, 0o644)
    expect((await checked(file)).findings).toContainEqual(expect.objectContaining({ id: 'file-readable', where: file }))
  })

  test('a readable module with a private key', async () => {
    const { keys } = JSON.parse(keySet)
    const { file } = written(`export default ${JSON.stringify({ ...healthy, keys })}`, 'grantry.config.mjs')
    chmodSync(file, 0o644)
    expect((await checked(file)).findings).toMatchObject([{ id: 'file-readable', where: file }])
  })

  test('an unencrypted key ring although there is an encryption secret', async () => {
    const kept = { ...healthy, keys: {} }
    const { file } = written(kept)
    await printed('keys', 'list', '--config', file)
    writeFileSync(file, JSON.stringify({ ...kept, keys: { encryptionSecret: strong('ring') } }))
    const { findings } = await checked(file)
    expect(findings).toMatchObject([
      { id: 'keys-unreadable', severity: 'error', where: 'keys', reason: expect.stringContaining('grantry keys seal') },
    ])
  })

  test('a refused key that is the current key in the store', async () => {
    const secured = { ...healthy, keys: { encryptionSecret: strong('ring') } }
    const { file } = written(secured)
    const { out } = await printed('keys', 'list', '--json', '--config', file)
    const [{ kid }] = JSON.parse(out)
    writeFileSync(file, JSON.stringify({ ...secured, keys: { ...secured.keys, refused: [kid] } }))
    const { findings } = await checked(file)
    expect(findings).toMatchObject([
      { id: 'key-refused-in-store', severity: 'warning', where: 'keys.refused', reason: expect.stringContaining(kid) },
    ])
    // A server, or a command, replaces the key. A check writes none.
    expect((await checked(file)).findings).toEqual(findings)
    await printed('keys', 'list', '--config', file)
    expect((await checked(file)).findings).toEqual([])
  })

  test('a key file that has not changed for two years', async () => {
    const { directory, file } = written(healthy)
    const old = Date.now() / 1000 - 2 * 365 * 86_400
    utimesSync(join(directory, 'keys.json'), old, old)
    expect((await checked(file)).findings).toMatchObject([{ id: 'key-old', where: 'keys.jwks' }])
  })

  test('clients in an external store', async () => {
    const { file } = written(
      `export default { ...${JSON.stringify(healthy)}, clients: { find: () => undefined } }`,
      'grantry.config.mjs',
    )
    expect((await checked(file)).findings).toMatchObject([{ id: 'clients-unseen' }])
  })

  const exchange = 'urn:ietf:params:oauth:grant-type:token-exchange'

  // A client of a store can get JWTs, and a client with reference tokens can exchange them for JWTs.
  test.each([
    ['clients of a store', 'clients: { find() {} }'],
    ['a token exchange', `clients: [{ ...client, accessTokenFormat: 'reference', grantTypes: ['${exchange}'] }]`],
  ])('RS256 for JWTs of clients with the FAPI profile, with %s', async (_what, clients) => {
    const profile = { ...withFapi2, keys: { algorithm: 'RS256', encryptionSecret: strong('keys') } }
    const content = `import { defineGrant } from '${root}/packages/core/dist/index.js'
      const schema = { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } }
      const grant = defineGrant({ grantType: '${exchange}', params: schema, handle() {} })
      const { plugins, clients: [client], ...profile } = ${JSON.stringify(profile)}
      export default { ...profile, plugins: [...plugins, grant], ${clients} }`
    const { findings } = await checked(written(content, 'grantry.config.mjs').file)
    expect(findings.map(({ id }) => id)).toContain('fapi-signing-algorithm')
  })
})

describe('grantry check', () => {
  test('prints no secret in any finding', async () => {
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

  test('prints the place, reason, remedy and source as text', async () => {
    const { code, out } = await printed('check', '--config', written(withClient({ secrets: [hashed('web')] })).file)
    expect(code).toBe(1)
    expect(out).toMatch(
      /^error {4}secret-weak\n {2}at {6}clients\[0\]\.secrets\[0\]\n {2}why {5}.+\n {2}do {6}.+\n {2}source {2}.+\n\n1 error, 0 warning, 0 info\n$/u,
    )
  })

  test('attack: prints no control characters from a name', async () => {
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
