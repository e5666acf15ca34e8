import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { printed } from '../printed.ts'
import { checked } from './checked.ts'
import { client, hashed, healthy, ofConfiguration, strong, withClient, written } from './configurations.ts'
import { findingCases, healthyCases } from './finding-cases.ts'

test('a healthy configuration has no finding', async () => {
  expect(await checked(written(healthy).file)).toEqual({ code: 0, findings: [] })
})

test.each(healthyCases)('without a finding: %s', async (_what, content) => {
  expect(ofConfiguration(await checked(written(content).file))).toEqual([])
})

describe('grantry check finds', () => {
  test.each(findingCases)('%s', async (_what, content, finding) => {
    const { code, findings } = await checked(written(content).file)
    expect(findings).toContainEqual(expect.objectContaining(finding))
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

  test('an invalid configuration, without the name of a library function', async () => {
    const { findings } = await checked(written({ ...healthy, issuer: 'https://ID.example.com' }).file)
    expect(findings).toMatchObject([
      { id: 'configuration-invalid', reason: expect.stringMatching(/^issuer must be written as /u) },
    ])
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
