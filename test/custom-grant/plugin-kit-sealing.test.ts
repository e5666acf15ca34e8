import { createHash } from 'node:crypto'
import { exportJWK, generateKeyPair } from 'jose'
import { describe, expect, test } from 'vitest'
import { another, jwk, setUp, state } from './plugin-kit.ts'

describe('seal() and unseal()', () => {
  test('return the value until it expires', async () => {
    const { withKit, clock } = await setUp()
    const sealed = await withKit((kit) => kit.seal({ step: 'password' }, kit.now() + 60))
    expect(await withKit((kit) => kit.unseal(sealed, state))).toEqual({ step: 'password' })
    clock.advance(60)
    expect(await withKit((kit) => kit.unseal(sealed, state))).toBeUndefined()
  })

  test('reveal nothing of the value, and differ every time', async () => {
    const { withKit } = await setUp()
    const [first, second] = await withKit((kit) =>
      Promise.all([0, 0].map(() => kit.seal({ step: 'x' }, kit.now() + 60))),
    )
    expect(first).not.toBe(second)
    expect(Buffer.from(String(first).split('.')[1] ?? '', 'base64url').includes('step')).toBe(false)
    expect(first).toMatch(/^[\w-]+\.[\w-]+$/u)
  })

  test.each<[string, (sealed: string) => string]>([
    [
      'a changed character',
      (sealed) => `${sealed.slice(0, -6)}${sealed.at(-6) === 'A' ? 'B' : 'A'}${sealed.slice(-5)}`,
    ],
    ['one cut off', (sealed) => sealed.slice(0, -1)],
    ['another part', (sealed) => `${sealed}.x`],
    ['no key', (sealed) => sealed.slice(sealed.indexOf('.'))],
    ['an unknown key', (sealed) => `eA${sealed.slice(sealed.indexOf('.'))}`],
    ['nothing', () => ''],
    ['too much', (sealed) => sealed + 'A'.repeat(20_000)],
  ])('open no text with %s', async (_, change) => {
    const { withKit } = await setUp()
    const sealed = await withKit((kit) => kit.seal({ step: 'x' }, kit.now() + 60))
    expect(await withKit((kit) => kit.unseal(change(sealed), state))).toBeUndefined()
  })

  test('open no value of another shape', async () => {
    const { withKit } = await setUp()
    const sealed = await withKit((kit) => kit.seal(['x'], kit.now() + 60))
    expect(await withKit((kit) => kit.unseal(sealed, state))).toBeUndefined()
  })

  test('are bound to the plugin, the issuer and the key', async () => {
    const sealed = await (await setUp()).withKit((kit) => kit.seal({ step: 'x' }, kit.now() + 60))
    const opened = async (...args: Parameters<typeof setUp>) =>
      (await setUp(...args)).withKit((kit) => kit.unseal(sealed, state))
    expect(await opened('kit')).toEqual({ step: 'x' })
    expect(await opened('other')).toBeUndefined()
    expect(await opened('kit', { issuer: 'https://other.example.com' })).toBeUndefined()
    expect(await opened('kit', { keys: [another] })).toBeUndefined()
    // After a rotation, the key still verifies.
    expect(await opened('kit', { keys: [another, jwk] })).toEqual({ step: 'x' })
  })

  test('do not use the signing key itself', async () => {
    const { withKit } = await setUp()
    const sealed = await withKit((kit) => kit.seal({ step: 'x' }, kit.now() + 60))
    const bytes = Buffer.from(sealed.split('.')[1] ?? '', 'base64url')
    const decrypt = async (key: Buffer) =>
      crypto.subtle.decrypt(
        { name: 'AES-GCM', iv: bytes.subarray(0, 12) },
        await crypto.subtle.importKey('raw', new Uint8Array(key), 'AES-GCM', false, ['decrypt']),
        bytes.subarray(12),
      )
    for (const key of [
      Buffer.from(jwk.d ?? '', 'base64url'),
      createHash('sha256')
        .update(jwk.d ?? '')
        .digest(),
    ]) {
      await expect(decrypt(key)).rejects.toThrow()
    }
  })

  describe('with an external key', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256')
    const external = {
      publicKey: await exportJWK(publicKey),
      sign: async (data: Uint8Array) =>
        new Uint8Array(await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, privateKey, Buffer.from(data))),
    }

    test('need a private key of the provider', async () => {
      const { withKit } = await setUp('kit', { keys: [external] })
      const sealing = withKit((kit) => kit.seal('x', kit.now() + 60))
      await expect(sealing).rejects.toThrow('keys: seal() requires a private JWK; external keys can only sign')
    })

    test('use a private key after it', async () => {
      const { withKit } = await setUp('kit', { keys: [external, jwk] })
      const sealed = await withKit((kit) => kit.seal({ step: 'x' }, kit.now() + 60))
      expect(await withKit((kit) => kit.unseal(sealed, state))).toEqual({ step: 'x' })
    })
  })
})
