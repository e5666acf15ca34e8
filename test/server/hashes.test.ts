// The hash functions that the package `grantry` exports.
import { createHash } from 'node:crypto'
import { createProvider, hashSecret as ofCore, parseConfiguration } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { basic } from '@grantry/testing'
import { defineConfig, hashPassword, hashSecret } from 'grantry'
import { describe, expect, test } from 'vitest'
import { hashSecretCommand } from '../../packages/server/src/commands/hash.ts'
import { providerOptions } from '../../packages/server/src/provider-options/provider-options.ts'
import { configurationSchema } from '../support/configuration-schema.ts'

describe('hashSecret()', () => {
  test.each(['web-secret', 'ünïcode-✓', ' '])('returns base64 of the SHA-256 of %j in UTF-8', (secret) => {
    const expected = createHash('sha256').update(secret, 'utf8').digest('base64')
    expect(hashSecret(secret)).toEqual({ sha256: expected })
  })

  test('is the function of the core, and matches grantry hash-secret', async () => {
    expect(hashSecret).toBe(ofCore)
    expect(await hashSecretCommand('web-secret')).toContain(`{ "sha256": "${hashSecret('web-secret').sha256}" }`)
  })

  test.each([
    ['an empty secret', ''],
    ['an unset variable', undefined],
    ['a number', 7],
  ])('rejects %s', (_what, secret) => {
    expect(() => hashSecret(secret as string)).toThrow(new TypeError('hashSecret(): secret must be a non-empty string'))
  })
})

test('a configuration with hashSecret() and hashPassword() accepts the right secret and password, and no others', async () => {
  const written = defineConfig({
    issuer: 'https://id.example.com',
    storage: { driver: 'memory' },
    clients: [{ clientId: 'web', secrets: [hashSecret('web-secret')], grantTypes: ['password'], scopes: ['api1'] }],
    scopes: [{ name: 'api1' }],
    users: [{ sub: '1', username: 'alice', password: await hashPassword('alice-password') }],
  })
  const configuration = parseConfiguration(configurationSchema, written, '')
  const provider = await createProvider(
    await providerOptions({ configuration, directory: '.' }, memoryDriver(), () => {}),
  )
  const send = async (secret: string, password: string): Promise<number> => {
    const request = new Request('https://id.example.com/connect/token', {
      method: 'POST',
      headers: { authorization: basic(['web', secret]) },
      body: new URLSearchParams({ grant_type: 'password', username: 'alice', password, scope: 'api1' }),
    })
    return (await provider.fetch(request)).status
  }
  expect(await send('web-secret', 'alice-password')).toBe(200)
  expect(await send('web-secret', 'other')).toBe(400)
  expect(await send('other', 'alice-password')).toBe(401)
  await provider.close()
})

test('hashPassword() returns another hash each time', async () => {
  expect(await hashPassword('alice-password')).not.toBe(await hashPassword('alice-password'))
})
