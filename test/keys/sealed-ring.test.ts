// From a plaintext ring to an encrypted one: one explicit step, and no way back.
import { sealStoredKeys } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { accepts, inState, kidsOf, published, type SharedRing, sharedRing, tokenOf } from './shared-ring.ts'

const encryptionSecret = 'a-secret-of-thirty-two-characters'
const issuer = 'https://id.example.com'
const seal = (ring: SharedRing) => sealStoredKeys({ issuer, storage: ring.driver, encryptionSecret })
const text = (ring: SharedRing) => [...ring.items].flat().join('\n')

describe('sealStoredKeys()', () => {
  test('encrypts the ring; the current key keeps signing, and its tokens stay valid', async () => {
    const ring = sharedRing()
    const before = await ring.start()
    const token = await tokenOf(before)
    const old = await before.provider.keys.list()
    const keys = await seal(ring)
    expect(inState(keys, 'current')).toEqual(inState(old, 'current'))
    // The private part of the next key was readable in the store.
    expect(inState(keys, 'next')).toHaveLength(1)
    expect(inState(keys, 'next')).not.toEqual(inState(old, 'next'))
    expect(text(ring)).toContain('"sealed"')
    expect(text(ring)).not.toMatch(/"ring"|"d"/u)
    const f = await ring.start({ encryptionSecret })
    expect(await accepts(f, token)).toBe(true)
    expect(kidsOf(await published(f))).toEqual(kidsOf(keys))
  })

  test('runs once: rejects an encrypted ring and does not change it', async () => {
    const ring = sharedRing()
    await ring.start()
    await seal(ring)
    const stored = text(ring)
    await expect(seal(ring)).rejects.toThrow('keys: the stored key ring is already encrypted; nothing was changed')
    expect(text(ring)).toBe(stored)
  })

  test('rejects an empty store, which gets an encrypted ring at the first start', async () => {
    const ring = sharedRing()
    await expect(seal(ring)).rejects.toThrow('keys: the storage has no key ring')
    expect(ring.items.size).toBe(0)
  })

  test('rejects a short secret', async () => {
    const { driver: storage } = sharedRing()
    await expect(sealStoredKeys({ issuer, storage, encryptionSecret: 'short' })).rejects.toThrow(
      'sealStoredKeys(): encryptionSecret must be at least 32 characters',
    )
  })

  test('a process without the secret keeps using its keys, and writes none in plaintext', async () => {
    const ring = sharedRing()
    const f = await ring.start()
    const [current] = inState(await f.provider.keys.list(), 'current')
    await seal(ring)
    ring.clock.advance(90 * 86_400)
    const token = await tokenOf(f)
    await f.provider.close()
    expect(await accepts(f, token)).toBe(true)
    expect(kidsOf(await published(f))).toContain(current)
    expect(text(ring)).not.toContain('"ring"')
    await expect(ring.start()).rejects.toThrow('keys: the stored key ring is encrypted; set the encryptionSecret')
  })
})
