/**
 * Attack: an attacker reads the store, or writes to it. With a private key they sign tokens that every API accepts
 * offline; with their own public key in the published list they sign with the matching private key.
 */
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { accepts, inState, kidsOf, published, sharedRing, tokenOf } from '../keys/shared-ring.ts'
import { generateFixedRsaKeys } from '../support/keys.ts'

generateFixedRsaKeys()

const encryptionSecret = 'a-secret-of-thirty-two-characters'
const sealed = { encryptionSecret }

const keysItems = (items: ReadonlyMap<string, string>) => [...items].filter(([key]) => key.startsWith('keys:'))

describe('a reader of the store', () => {
  test('finds no private key when there is a secret, after a start and after a rotation', async () => {
    const ring = sharedRing()
    const f = await ring.start({ ...sealed, algorithms: ['ES256', 'RS256'] })
    await f.provider.keys.rotate({ force: true })
    const text = keysItems(ring.items).flat().join('\n')
    expect(text).toContain('"sealed"')
    expect(text).not.toMatch(/"(?:d|p|q|dp|dq|qi|jwk)"/u)
    expect(text).not.toContain(encryptionSecret)
  })

  test('finds a private key with the same search when there is no secret', async () => {
    const ring = sharedRing()
    await ring.start()
    expect(keysItems(ring.items).flat().join('\n')).toMatch(/"d"/u)
  })

  test('finds no private part of a key that no longer signs, also without encryption', async () => {
    const ring = sharedRing()
    const f = await ring.start()
    const before = keysItems(ring.items).flat().join('\n')
    const [current] = [...before.matchAll(/"d":"([^"]+)"/gu)].map(([, d]) => d)
    await f.provider.keys.rotate({ force: true })
    expect(keysItems(ring.items).flat().join('\n')).not.toContain(current)
  })

  test('two generations are encrypted under different keys', async () => {
    const ring = sharedRing()
    const f = await ring.start(sealed)
    const [name = ''] = keysItems(ring.items).find(([, value]) => value.includes('"sealed"')) ?? []
    const first = ring.items.get(name) ?? ''
    await f.provider.keys.rotate({ force: true })
    const [later = ''] = keysItems(ring.items).find(([, value]) => value.includes('"sealed"')) ?? []
    // The first generation instead of the second would undo a rotation.
    ring.items.set(later, first)
    await expect(ring.start(sealed)).rejects.toThrow('keys: the stored key ring was changed without')
  })

  test('two issuers with one secret are encrypted under different keys', async () => {
    const [ring, foreign] = [sharedRing(), sharedRing()]
    await ring.start(sealed)
    await foreign.start(sealed, { issuer: 'https://other.example.com' })
    const sealedItem = ({ items }: typeof ring) => keysItems(items).find(([, value]) => value.includes('"sealed"'))
    const [name = '', value = ''] = sealedItem(ring) ?? []
    const [, foreignValue = ''] = sealedItem(foreign) ?? []
    const record = { ...JSON.parse(value), value: JSON.parse(foreignValue).value }
    ring.items.set(name, JSON.stringify(record))
    await expect(ring.start(sealed)).rejects.toThrow('keys: the stored key ring was encrypted with another')
  })
})

describe('a writer to the store', () => {
  async function attackersKey() {
    const pair = await generateKeyPair('ES256', { extractable: true })
    const jwk = await exportJWK(pair.publicKey)
    return { pair, jwk }
  }

  test('cannot change an encrypted ring, to add their own public key', async () => {
    const ring = sharedRing()
    await ring.start(sealed)
    for (const [key, value] of keysItems(ring.items)) {
      if (!value.includes('"sealed"')) continue
      const record = JSON.parse(value)
      const flipped = record.value.sealed.replace(/.{8}$/u, 'AAAAAAAA')
      ring.items.set(key, JSON.stringify({ ...record, value: { ...record.value, sealed: flipped } }))
    }
    await expect(ring.start(sealed)).rejects.toThrow(
      'keys: the stored key ring was changed without the encryptionSecret',
    )
  })

  test('cannot replace an encrypted ring with a plaintext one: running processes keep theirs', async () => {
    const ring = sharedRing()
    const f = await ring.start(sealed)
    const { pair, jwk } = await attackersKey()
    const [first] = await f.provider.keys.list()
    const clear = sharedRing()
    const attacker = await clear.start()
    await attacker.provider.keys.rotate({ force: true })
    // Their second generation, under our name for it.
    for (const [key, value] of keysItems(clear.items))
      if (!ring.items.get(key)?.includes('sealed')) ring.items.set(key, value)
    ring.clock.advance(6)
    await tokenOf(f)
    await f.provider.close()
    expect(kidsOf(await published(f))).toContain(first?.kid)
    const forged = await new SignJWT({ scope: 'api1' })
      .setProtectedHeader({ alg: 'ES256', kid: jwk.x ?? '', typ: 'at+jwt' })
      .sign(pair.privateKey)
    expect(await accepts(f, forged)).toBe(false)
    expect(await accepts(f, await tokenOf(attacker))).toBe(false)
    expect(f.events).toContainEqual(expect.objectContaining({ reason: 'key_ring_unreadable' }))
  })

  test('two swapped keys are detected', async () => {
    const ring = sharedRing()
    await ring.start()
    for (const [key, value] of keysItems(ring.items)) {
      const record = JSON.parse(value)
      if (record.value.ring === undefined) continue
      const [first, second] = record.value.ring.keys
      ;[first.jwk, second.jwk] = [second.jwk, first.jwk]
      ring.items.set(key, JSON.stringify(record))
    }
    await expect(ring.start()).rejects.toThrow('keys: the stored key ring cannot be read')
  })

  test('cannot hide the ring behind a hint that leads nowhere: rotations are still detected', async () => {
    const ring = sharedRing()
    const [first, second] = [await ring.start(sealed), await ring.start(sealed)]
    const hintOf = () => keysItems(ring.items).find(([, value]) => JSON.parse(value).value.number !== undefined)
    const [name = '', value = ''] = hintOf() ?? []
    ring.items.set(name, value.replace('"number":1', '"number":1000000'))
    const keys = await first.provider.keys.rotate({ force: true })
    ring.clock.advance(6)
    expect(kidsOf(await second.provider.keys.list())).toEqual(kidsOf(keys))
    expect(kidsOf(await published(await ring.start(sealed)))).toEqual(kidsOf(keys))
  })

  test('a key under the name of another is detected, also without encryption', async () => {
    const ring = sharedRing()
    await ring.start()
    const { jwk } = await attackersKey()
    for (const [key, value] of keysItems(ring.items)) {
      ring.items.set(key, value.replace(/"x":"[^"]+","y":"[^"]+"/u, `"x":"${jwk.x}","y":"${jwk.y}"`))
    }
    await expect(ring.start()).rejects.toThrow(/^keys: the stored key/u)
  })
})

describe('a compromised key', () => {
  test('is removed immediately: its tokens are rejected here, and everywhere within seconds', async () => {
    const ring = sharedRing()
    const [first, second] = [await ring.start(), await ring.start()]
    const token = await tokenOf(second)
    const [stolen] = inState(await first.provider.keys.list(), 'current')
    const keys = await first.provider.keys.retire(stolen ?? '', { compromised: true })
    expect(kidsOf(keys)).not.toContain(stolen)
    expect(inState(keys, 'current')).toHaveLength(1)
    expect(await accepts(first, token)).toBe(false)
    expect(kidsOf(await published(first))).not.toContain(stolen)
    expect(JSON.stringify([...ring.items])).not.toContain(stolen)
    ring.clock.advance(6)
    await second.provider.keys.list()
    expect(await accepts(second, token)).toBe(false)
    expect(await accepts(second, await tokenOf(second))).toBe(true)
    expect(first.events).toContainEqual(
      expect.objectContaining({ type: 'key_retired', kid: stolen, compromised: true }),
    )
  })

  test('is not accepted by a process that was idle for a minute', async () => {
    const ring = sharedRing()
    const [active, idle] = [await ring.start(), await ring.start()]
    const token = await tokenOf(idle)
    const [stolen] = inState(await active.provider.keys.list(), 'current')
    await active.provider.keys.retire(stolen ?? '', { compromised: true })
    ring.clock.advance(61)
    expect(await accepts(idle, token)).toBe(false)
  })

  test('that does not sign, or no longer signs, is removed in the same way', async () => {
    const f = await sharedRing().start()
    const [first] = kidsOf(await f.provider.keys.list())
    await f.provider.keys.retire(first ?? '', { force: true })
    const [, next] = kidsOf(await f.provider.keys.list())
    for (const kid of [first, next]) {
      expect(kidsOf(await f.provider.keys.retire(kid ?? '', { compromised: true }))).not.toContain(kid)
    }
    expect((await f.provider.keys.list()).map(({ state }) => state)).toEqual(['current', 'next'])
  })
})

describe('requests that name unknown keys', () => {
  const unknown = (index: number) =>
    new SignJWT({ scope: 'api1' })
      .setProtectedHeader({ alg: 'HS256', kid: String(index).padStart(43, 'A'), typ: 'at+jwt' })
      .sign(new Uint8Array(32))

  /** A provider, and the number of reads of the ring in the store since its start. */
  async function watched() {
    let reads = 0
    const ring = sharedRing((driver) => ({
      ...driver,
      getItem(key) {
        if (key.startsWith('keys:')) reads += 1
        return driver.getItem(key)
      },
    }))
    const f = await ring.start()
    reads = 0
    return { f, ring, looks: () => reads }
  }

  test('cause a bounded number of reads of the store', async () => {
    const { f, ring, looks } = await watched()
    for (let index = 0; index < 200; index += 1) expect(await accepts(f, await unknown(index))).toBe(false)
    const ofBurst = looks()
    expect(ofBurst).toBeGreaterThan(0)
    expect(ofBurst).toBeLessThanOrEqual(10 * 3)
    ring.clock.advance(2)
    for (let index = 0; index < 200; index += 1) await accepts(f, await unknown(index))
    expect(looks() - ofBurst).toBeLessThanOrEqual(2 * 3)
  })

  test('a name that none of our keys can have causes no read at all', async () => {
    const { f, looks } = await watched()
    const token = await new SignJWT({})
      .setProtectedHeader({ alg: 'HS256', kid: 'k', typ: 'at+jwt' })
      .sign(new Uint8Array(32))
    expect(await accepts(f, token)).toBe(false)
    expect(looks()).toBe(0)
  })
})
