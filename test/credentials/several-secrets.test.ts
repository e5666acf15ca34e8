import { createHash } from 'node:crypto'
import type { ClientOptions } from '@grantry/core'
import { sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { clients, fixture } from '../support/fixture.ts'

const grant = { grant_type: 'client_credentials', scope: 'api1' }
const start = 1_800_000_000

function sha512Of(secret: string): string {
  return createHash('sha512').update(secret).digest('base64')
}

const withSecrets = async (secrets: NonNullable<ClientOptions['secrets']>) => {
  const f = await fixture({ clients: [{ ...clients[0], clientId: 'web', secrets }] })
  return { f, status: async (secret: string) => (await f.post('token', grant, ['web', secret])).status }
}

describe('several secrets', () => {
  test('2.11 accepts any of them, and no other', async () => {
    const { status } = await withSecrets(['one', 'two', 'three'].map((secret) => ({ sha256: sha256Of(secret) })))
    for (const secret of ['one', 'two', 'three']) expect(await status(secret)).toBe(200)
    for (const secret of ['four', 'onetwo', '', sha256Of('one')]) expect(await status(secret)).toBe(401)
  })

  test('2.11 accepts a secret until the second before its expiry', async () => {
    const { f, status } = await withSecrets([{ sha256: sha256Of('one'), expiresAt: start + 60 }])
    f.clock.advance(59)
    expect(await status('one')).toBe(200)
    f.clock.advance(1)
    expect(await status('one')).toBe(401)
    f.clock.advance(1_000_000)
    expect(await status('one')).toBe(401)
  })

  test('2.11 an expiry may be an ISO 8601 date and time', async () => {
    const expiresAt = new Date((start + 60) * 1000).toISOString()
    const { f, status } = await withSecrets([{ sha256: sha256Of('one'), expiresAt }])
    f.clock.advance(59)
    expect(await status('one')).toBe(200)
    f.clock.advance(1)
    expect(await status('one')).toBe(401)
  })

  test('2.11 accepts an old secret and its successor while both live', async () => {
    const old = { sha256: sha256Of('old'), expiresAt: start + 60 }
    const { f, status } = await withSecrets([old, { sha512: sha512Of('new') }])
    expect([await status('old'), await status('new')]).toEqual([200, 200])
    f.clock.advance(60)
    expect([await status('old'), await status('new')]).toEqual([401, 200])
  })

  test('2.11 accepts a duplicate secret while one of the two lives', async () => {
    const sha256 = sha256Of('one')
    const { f, status } = await withSecrets([{ sha256, expiresAt: start - 1 }, { sha256 }])
    f.clock.advance(60)
    expect(await status('one')).toBe(200)
  })
})

describe('stored forms', () => {
  // printf 'web-secret' | openssl dgst -sha256 -binary | base64
  test('2.12 SHA-256 in base64', async () => {
    const { status } = await withSecrets([{ sha256: 'dh/tnbsiQnvtvHPD8KuT//QRBKp36xRQJdARO+jANaM=' }])
    expect([await status('web-secret'), await status('other')]).toEqual([200, 401])
  })

  // printf 'web-secret' | openssl dgst -sha512 -binary | base64
  test('2.12 SHA-512 in base64', async () => {
    const sha512 = 'GQz03fGZK2EnasHSEl2idZXZ9r/Js6hE0g8WOTjwyNEZ4OSrZf3osJWda4ItcoeuHLBlVbaS9oDwb0qUFLUVGQ=='
    const { status } = await withSecrets([{ sha512 }])
    expect([await status('web-secret'), await status('other')]).toEqual([200, 401])
  })

  test('2.12 of the UTF-8 secret', async () => {
    const { status } = await withSecrets([{ sha512: sha512Of('é€🔑') }])
    expect([await status('é€🔑'), await status('e€🔑')]).toEqual([200, 401])
  })
})

describe('plain text', () => {
  test.each<[string, object]>([
    ['a string instead of an object', { secrets: ['web-secret'] }],
    ['a member secret', { secret: 'web-secret' }],
    ['a member value', { secrets: [{ value: 'web-secret' }] }],
    ['a member plain', { secrets: [{ plain: 'web-secret' }] }],
  ])('2.14 rejects a plain secret at start: %s', async (_, more) => {
    await expect(fixture({ clients: [{ ...clients[0], clientId: 'web', ...more }] })).rejects.toThrow(TypeError)
  })

  test.each(['sha256', 'sha512'] as const)(
    '2.14 a plain secret instead of %s in a client store does not match itself',
    async (name) => {
      const secrets = [{ [name]: 'web-secret' }, { sha256: sha256Of('good-secret') }]
      const f = await fixture({ clients: { find: () => ({ ...clients[0], clientId: 'web', secrets }) } })
      const status = async (secret: string) =>
        (await f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, ['web', secret])).status
      expect([await status('web-secret'), await status('good-secret')]).toEqual([401, 200])
    },
  )

  test('2.14 a stored hash is not the secret', async () => {
    const { status } = await withSecrets([{ sha256: sha256Of('web-secret') }])
    expect(await status(sha256Of('web-secret'))).toBe(401)
  })
})
