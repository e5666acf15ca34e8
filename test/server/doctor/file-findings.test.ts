import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { checked } from './checked.ts'
import { healthy, keySet, written } from './configurations.ts'

describe('grantry check finds', () => {
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
})
