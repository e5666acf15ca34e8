/**
 * Attack: an attacker who can write to the store, and does not have the encryptionSecret, writes a key ring: a
 * plaintext ring with their own keys, or an older encrypted one that they have copied. A key in the ring signs tokens
 * that every API accepts.
 *
 * No RFC: hardening. With an encryptionSecret a plaintext ring is rejected, at start and later. A process that starts
 * cannot distinguish an older encrypted ring from the newest one; the refused keys of the configuration stay out in
 * both cases.
 */
import { storedKeys } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import {
  accepts,
  inState,
  kidOf,
  kidsOf,
  published,
  type SharedRing,
  settle,
  sharedRing,
  tokenOf,
} from '../keys/shared-ring.ts'

const encryptionSecret = 'a-secret-of-thirty-two-characters'
const sealed = { encryptionSecret }
const notEncrypted = /^keys: the stored key ring is not encrypted, but encryptionSecret is set; .*grantry keys seal/u

const keysItems = ({ items }: SharedRing) => [...items].filter(([key]) => key.startsWith('keys:'))

/** A plaintext ring with the given number of generations, under the names of our ring, and a token of its key. */
async function foreign(generations: number) {
  const ring = sharedRing()
  const f = await ring.start()
  for (let count = 1; count < generations; count += 1) await f.provider.keys.rotate({ force: true })
  return { ring, token: await tokenOf(f), kids: kidsOf(await published(f)) }
}

function replaceKeys(ring: SharedRing, items: readonly (readonly [string, string])[]): void {
  for (const [key] of keysItems(ring)) ring.items.delete(key)
  for (const [key, value] of items) ring.items.set(key, value)
}

const snapshot = (ring: SharedRing) => JSON.stringify(keysItems(ring))

describe('a plaintext ring when there is a secret', () => {
  test.each([
    ['in an empty store', false],
    ['instead of the encrypted one', true],
  ])('%s aborts the start, and is not changed', async (_what, wasSealed) => {
    const ring = sharedRing()
    if (wasSealed) await ring.start(sealed)
    replaceKeys(ring, keysItems((await foreign(1)).ring))
    const planted = snapshot(ring)
    await expect(ring.start(sealed)).rejects.toThrow(notEncrypted)
    expect(snapshot(ring)).toBe(planted)
  })

  test('after the encrypted one aborts the start', async () => {
    const ring = sharedRing()
    await ring.start(sealed)
    for (const [key, value] of keysItems((await foreign(2)).ring)) {
      if (!ring.items.get(key)?.includes('"sealed"')) ring.items.set(key, value)
    }
    await expect(ring.start(sealed)).rejects.toThrow(notEncrypted)
  })

  test('is never used by a running process, however it gets into the store', async () => {
    for (const generations of [1, 2, 3]) {
      const ring = sharedRing()
      const f = await ring.start(sealed)
      const kidsBefore = kidsOf(await published(f))
      const { ring: planted, token, kids } = await foreign(generations)
      replaceKeys(ring, keysItems(planted))
      for (const seconds of [6, 61]) {
        ring.clock.advance(seconds)
        expect(kidsBefore).toContain(kidOf(await tokenOf(f)))
        expect(await accepts(f, token)).toBe(false)
        expect(kidsOf(await published(f))).toEqual(kidsBefore)
      }
      await f.provider.close()
      expect(kidsBefore).not.toEqual(kids)
      expect(f.events).toContainEqual(expect.objectContaining({ reason: 'key_ring_unreadable' }))
    }
  })

  test('as the next generation stops a rotation, and none of its keys is used', async () => {
    const ring = sharedRing()
    const f = await ring.start(sealed)
    const kidsBefore = kidsOf(await published(f))
    const { ring: planted } = await foreign(2)
    for (const [key, value] of keysItems(planted)) if (!ring.items.has(key)) ring.items.set(key, value)
    await expect(f.provider.keys.rotate({ force: true })).rejects.toThrow(notEncrypted)
    expect(kidsOf(await published(f))).toEqual(kidsBefore)
  })
})

describe('an older encrypted ring that is restored', () => {
  /** A ring whose first current key was compromised and retired, and the earlier content of the store. */
  async function rolledBack() {
    const ring = sharedRing()
    const f = await ring.start(sealed)
    const backup = keysItems(ring)
    const token = await tokenOf(f)
    const stolen = kidOf(token)
    await f.provider.keys.retire(stolen, { compromised: true })
    expect(await accepts(f, token)).toBe(false)
    return { ring, f, backup, token, stolen }
  }

  test('is not used by a running process, which writes the newer one again', async () => {
    const { ring, f, backup, token, stolen } = await rolledBack()
    const kidsBefore = kidsOf(await published(f))
    replaceKeys(ring, backup)
    ring.clock.advance(6)
    await settle(f)
    expect(kidsOf(await published(f))).toEqual(kidsBefore)
    expect(await accepts(f, token)).toBe(false)
    const later = await ring.start(sealed)
    expect(kidsOf(await published(later))).toEqual(kidsBefore)
    expect(kidsBefore).not.toContain(stolen)
  })

  test('is used by a process that starts: without refused keys a compromised one returns', async () => {
    const { ring, backup, token, stolen } = await rolledBack()
    replaceKeys(ring, backup)
    const f = await ring.start(sealed)
    expect(kidsOf(await published(f))).toContain(stolen)
    expect(await accepts(f, token)).toBe(true)
  })

  test('restores no refused key: it neither signs, nor is published, nor verifies, and it is removed from the store', async () => {
    const { ring, backup, token, stolen } = await rolledBack()
    replaceKeys(ring, backup)
    const f = await ring.start({ ...sealed, refused: [stolen] })
    expect(await accepts(f, token)).toBe(false)
    expect(kidOf(await tokenOf(f))).not.toBe(stolen)
    expect(kidsOf(await published(f))).not.toContain(stolen)
    expect(inState(await f.provider.keys.list(), 'current')).toHaveLength(1)
    expect(f.events).toContainEqual(
      expect.objectContaining({
        type: 'startup_warning',
        reason: 'refused_key_stored',
        message: expect.stringContaining(`the refused key ${stolen} in the state current`),
      }),
    )
    expect(f.events).toContainEqual(expect.objectContaining({ type: 'keys_rotated', reason: 'key_refused' }))
    // A process with an outdated configuration does not get it back either.
    const outdated = await ring.start(sealed)
    expect(kidsOf(await published(outdated))).toEqual(kidsOf(await published(f)))
    expect(outdated.events).not.toContainEqual(expect.objectContaining({ reason: 'refused_key_stored' }))
  })
})

describe('a refused key', () => {
  test.each([['next'], ['retiring']] as const)('is rejected as a %s key, too', async (state) => {
    const ring = sharedRing()
    const f = await ring.start()
    const token = await tokenOf(f)
    await f.provider.keys.rotate({ force: true })
    const [kid = ''] = inState(await f.provider.keys.list(), state)
    const refusing = await ring.start({ refused: [kid] })
    expect(kidsOf(await published(refusing))).not.toContain(kid)
    expect(await accepts(refusing, token)).toBe(state !== 'retiring')
    expect(inState(await refusing.provider.keys.list(), 'next')).toHaveLength(1)
    const keys = await refusing.provider.keys.rotate({ force: true })
    expect(kidsOf(keys)).not.toContain(kid)
    expect(keys.map((key) => key.state)).toEqual(expect.arrayContaining(['current', 'next', 'retiring']))
  })

  test('may be every key of the ring: new ones replace them', async () => {
    const ring = sharedRing()
    const before = kidsOf(await published(await ring.start())) as string[]
    const f = await ring.start({ refused: before })
    const keys = await f.provider.keys.list()
    expect(keys.map(({ state }) => state)).toEqual(['current', 'next'])
    for (const kid of before) expect(kidsOf(keys)).not.toContain(kid)
  })

  test('that a newer ring restores is not used, and is replaced in the background', async () => {
    const [ring, fork] = [sharedRing(), sharedRing()]
    await ring.start()
    replaceKeys(fork, keysItems(ring))
    const ahead = await fork.start()
    const [, refused = ''] = kidsOf(await published(ahead)) as string[]
    const f = await ring.start({ refused: [refused] })
    // Two generations later, since f is one: the refused key signs there.
    const [, next = ''] = kidsOf(await ahead.provider.keys.rotate({ force: true })) as string[]
    await ahead.provider.keys.retire(next, { compromised: true })
    const token = await tokenOf(ahead)
    expect(kidOf(token)).toBe(refused)
    replaceKeys(ring, keysItems(fork))
    ring.clock.advance(6)
    await settle(f)
    expect(await accepts(f, token)).toBe(false)
    expect(kidOf(await tokenOf(f))).not.toBe(refused)
    expect(inState(await f.provider.keys.list(), 'current')).toEqual([kidOf(await tokenOf(f))])
    expect(JSON.stringify(keysItems(ring))).not.toContain(refused)
  })

  test.each([['kid'], ['2Qq0'], ['']])('rejects %j, which is not an id of a stored key', (kid) => {
    expect(() => storedKeys({ refused: [kid] })).toThrow(/refused\[0\] must be a key id, as listed by "grantry/u)
  })
})
