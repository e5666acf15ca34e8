// Keys that are kept in the store: created once, published before they sign, and valid until the last of their tokens
// has expired.
import { describe, expect, test } from 'vitest'
import { fixture } from '../support/fixture.ts'
import { generateFixedRsaKeys } from '../support/keys.ts'
import { accepts, inState, kidOf, kidsOf, published, settle, sharedRing, tokenOf } from './shared-ring.ts'

generateFixedRsaKeys()

const day = 86_400
const quarter = 90 * day

describe('a ring in the store', () => {
  test('starts with a key that signs and one that is only published', async () => {
    const f = await sharedRing().start()
    const keys = await f.provider.keys.list()
    expect(keys.map(({ state, algorithm }) => [state, algorithm])).toEqual([
      ['current', 'ES256'],
      ['next', 'ES256'],
    ])
    expect(kidsOf(await published(f))).toEqual(kidsOf(keys))
    expect(kidOf(await tokenOf(f))).toBe(keys[0]?.kid)
  })

  test('is the same for every process, and after a restart', async () => {
    const ring = sharedRing()
    const before = await ring.start()
    const token = await tokenOf(before)
    await before.provider.close()
    const restarted = await ring.start()
    expect(await accepts(restarted, token)).toBe(true)
    expect(kidsOf(await published(restarted))).toEqual(kidsOf(await before.provider.keys.list()))
  })

  test('belongs to one issuer: another one in the same store has its own keys', async () => {
    const ring = sharedRing()
    const f = await ring.start()
    const otherIssuer = await ring.start({}, { issuer: 'https://other.example.com' })
    expect(kidsOf(await published(otherIssuer))).not.toEqual(kidsOf(await published(f)))
  })

  test('shows only public members', async () => {
    const f = await sharedRing().start({ algorithms: ['ES256', 'RS256', 'PS256', 'EdDSA'] })
    const names = new Set((await published(f)).flatMap((key) => Object.keys(key)))
    expect([...names].sort()).toEqual(['alg', 'crv', 'e', 'kid', 'kty', 'n', 'use', 'x', 'y'])
    expect(JSON.stringify(await f.provider.keys.list())).not.toMatch(/"(?:jwk|[dpq]|d[pq]|qi|[xyn])":/u)
  })
})

describe('a scheduled rotation', () => {
  test('lets the next key sign, which was published before, and keeps the old one', async () => {
    const ring = sharedRing()
    const f = await ring.start()
    const [first, second] = kidsOf(await published(f))
    const old = await tokenOf(f)
    ring.clock.advance(quarter - 1)
    await settle(f)
    expect(kidOf(await tokenOf(f))).toBe(first)
    ring.clock.advance(1)
    const young = await tokenOf(f)
    await settle(f)
    expect(kidOf(young)).toBe(first)
    expect(kidOf(await tokenOf(f))).toBe(second)
    const keys = await f.provider.keys.list()
    expect([inState(keys, 'current'), inState(keys, 'retiring')]).toEqual([[second], [first]])
    expect(inState(keys, 'next')).toHaveLength(1)
    expect(kidsOf(await published(f))).toEqual(kidsOf(keys))
    expect(await accepts(f, young)).toBe(true)
    expect(await accepts(f, old)).toBe(false)
    expect(f.events.filter(({ type }) => type === 'keys_rotated')).toMatchObject([
      { reason: 'scheduled', algorithm: 'ES256', kid: second, retiredKid: first, nextKid: inState(keys, 'next')[0] },
    ])
  })

  test('happens once, however many processes find it due', async () => {
    const ring = sharedRing()
    const processes = await Promise.all(Array.from({ length: 4 }, () => ring.start()))
    ring.clock.advance(quarter)
    await Promise.all(processes.map(tokenOf))
    for (const process of processes) await settle(process)
    expect(processes.flatMap((f) => f.events.filter(({ type }) => type === 'keys_rotated'))).toHaveLength(1)
    const lists = await Promise.all(processes.map((f) => f.provider.keys.list()))
    expect(new Set(lists.map((keys) => JSON.stringify(keys))).size).toBe(1)
  })

  test('delays no request: the request that finds it due is served with the current key', async () => {
    const ring = sharedRing()
    const f = await ring.start({ algorithms: ['RS256'] })
    const [first] = kidsOf(await published(f))
    ring.clock.advance(quarter)
    // The last read is old, so this request waits for a read; it does not wait for the key that is then created.
    expect(kidOf(await tokenOf(f))).toBe(first)
    await f.provider.close()
    expect(f.events.map(({ type }) => type)).toContain('keys_rotated')
  })

  test('begins again after a Worker has ended the request that began it', async () => {
    let ends = false
    const ring = sharedRing((driver) => ({
      ...driver,
      insertItem: (key, ...rest) =>
        ends && key.includes('keys') ? new Promise(() => {}) : driver.insertItem(key, ...rest),
    }))
    const f = await ring.start()
    const rotations = () => f.events.filter(({ type }) => type === 'keys_rotated')
    ends = true
    ring.clock.advance(quarter)
    await tokenOf(f)
    ends = false
    ring.clock.advance(31)
    // As a scheduled event does, which ends only when the new key is stored.
    await f.provider.keys.list()
    await f.provider.runTasks()
    expect(rotations()).toHaveLength(1)
  })
})

describe('a manual rotation', () => {
  test('is picked up by other processes without a restart', async () => {
    const ring = sharedRing()
    const [f, otherProcess] = [await ring.start(), await ring.start()]
    const old = await tokenOf(otherProcess)
    ring.clock.advance(360)
    const keys = await f.provider.keys.rotate()
    const young = await tokenOf(f)
    expect(inState(keys, 'current')).toEqual([kidOf(young)])
    // The other process has not read the ring: it knows the key, which was published.
    expect(await accepts(otherProcess, young)).toBe(true)
    ring.clock.advance(6)
    await settle(otherProcess)
    expect(kidOf(await tokenOf(otherProcess))).toBe(kidOf(young))
    expect(await accepts(f, old)).toBe(true)
    expect(kidsOf(await published(otherProcess))).toEqual(kidsOf(await published(f)))
  })

  test('is rejected while the next key is not yet known everywhere, unless it is forced', async () => {
    const ring = sharedRing()
    const f = await ring.start()
    ring.clock.advance(100)
    await expect(f.provider.keys.rotate()).rejects.toThrow(
      'keys: the next key was published too recently, so APIs with cached keys would refuse its tokens; wait 260 s, or use force',
    )
    const [, second] = kidsOf(await published(f))
    expect(inState(await f.provider.keys.rotate({ force: true }), 'current')).toEqual([second])
  })

  test('two forced ones in a row: another process reads the ring for an unknown key', async () => {
    const ring = sharedRing()
    const [f, otherProcess] = [await ring.start(), await ring.start()]
    await f.provider.keys.rotate({ force: true })
    await f.provider.keys.rotate({ force: true })
    expect(await accepts(otherProcess, await tokenOf(f))).toBe(true)
  })

  test('of several concurrent ones one happens, and each returns the result of that one', async () => {
    const ring = sharedRing()
    const processes = await Promise.all(Array.from({ length: 4 }, () => ring.start()))
    ring.clock.advance(360)
    const responses = await Promise.all(processes.map((f) => f.provider.keys.rotate()))
    expect(new Set(responses.map((keys) => JSON.stringify(keys))).size).toBe(1)
    expect(processes.flatMap((f) => f.events.filter(({ type }) => type === 'keys_rotated'))).toHaveLength(1)
  })
})

describe('a retired key', () => {
  test('verifies until the last token that it signed has expired, then it is removed', async () => {
    const ring = sharedRing()
    const f = await ring.start()
    const [first] = kidsOf(await published(f))
    ring.clock.advance(360)
    const token = await tokenOf(f)
    await f.provider.keys.retire(first ?? '')
    const [retiring] = (await f.provider.keys.list()).filter(({ state }) => state === 'retiring')
    expect(retiring?.kid).toBe(first)
    ring.clock.advance(3599)
    expect(await accepts(f, token)).toBe(true)
    ring.clock.advance((retiring?.keptUntil ?? 0) - ring.clock.now() - 1)
    await settle(f)
    expect(kidsOf(await published(f))).toContain(first)
    ring.clock.advance(6)
    await settle(f)
    expect(kidsOf(await published(f))).not.toContain(first)
    expect(kidsOf(await f.provider.keys.list())).not.toContain(first)
  })

  test('outlives the longest token of any client', async () => {
    const ring = sharedRing()
    const clients = [
      { clientId: 'slow', public: true, accessTokenLifetime: 30 * day },
      { clientId: 'quick', public: true, accessTokenLifetime: 60, identityTokenLifetime: 60 },
    ]
    const f = await ring.start({}, { clients })
    const keys = await f.provider.keys.rotate({ force: true })
    const retiring = keys.find(({ state }) => state === 'retiring')
    expect(retiring?.keptUntil).toBeGreaterThan(ring.clock.now() + 30 * day)
  })

  test('a key that does not sign yet is replaced', async () => {
    const f = await sharedRing().start()
    const [first, second] = kidsOf(await published(f))
    const keys = await f.provider.keys.retire(second ?? '')
    expect(inState(keys, 'current')).toEqual([first])
    expect(inState(keys, 'next')).not.toEqual([second])
    expect(kidsOf(keys)).not.toContain(second)
    expect(f.events.at(-1)).toMatchObject({ type: 'key_retired', kid: second, compromised: false })
  })

  test('a stolen key is replaced, and the events report a manual rotation', async () => {
    const f = await sharedRing().start()
    const [first, second] = kidsOf(await published(f))
    await f.provider.keys.retire(first ?? '', { compromised: true, force: true })
    expect(f.events.slice(-2)).toMatchObject([
      { type: 'key_retired', kid: first, compromised: true },
      { type: 'keys_rotated', kid: second, reason: 'command' },
    ])
  })

  test('a key that is already retiring stays unchanged', async () => {
    const f = await sharedRing().start()
    const [first] = kidsOf(await published(f))
    const keys = await f.provider.keys.retire(first ?? '', { force: true })
    expect(await f.provider.keys.retire(first ?? '')).toEqual(keys)
  })

  test('rejects an unknown kid with an error message', async () => {
    const f = await sharedRing().start()
    await expect(f.provider.keys.retire('nothing')).rejects.toThrow('keys: there is no key with this kid')
  })
})

test('configured keys cannot be rotated here, and the error says what to do', async () => {
  const f = await fixture()
  expect((await f.provider.keys.list()).map(({ state }) => state)).toEqual(['current'])
  for (const refused of [f.provider.keys.rotate(), f.provider.keys.retire('x')]) {
    await expect(refused).rejects.toThrow('keys: the keys are set in the configuration; change them there')
  }
})

test.each([
  [{ rotateAfter: 60 }, 'storedKeys(): rotateAfter must be at least 600 seconds'],
  [{ encryptionSecret: 'short' }, 'storedKeys(): encryptionSecret must be at least 32 characters'],
  [{ algorithms: [] }, 'storedKeys(): algorithms'],
  [{ algorithms: ['HS256'] }, 'storedKeys(): algorithms[0] must be one of ES256, RS256, PS256, EdDSA'],
  [{ algorithms: ['ES256', 'ES256'] }, 'storedKeys(): algorithms must name each algorithm once'],
  [{ rotateafter: 6000 }, 'storedKeys(): rotateafter is not a known option; did you mean rotateAfter?'],
])('rejects %j', async (options, message) => {
  expect(() => sharedRing().start(options as never)).toThrow(message)
})
