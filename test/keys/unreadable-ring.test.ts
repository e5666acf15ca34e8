// A stored ring that cannot be read is a mistake or an attack: a server that created new keys instead would log out all
// users.
import { describe, expect, test } from 'vitest'
import { accepts, kidOf, kidsOf, published, type SharedRing, sharedRing, tokenOf } from './shared-ring.ts'

const encryptionSecret = 'a-secret-of-thirty-two-characters'
const otherSecret = 'another-secret-of-thirty-two-chars'

const snapshot = ({ items }: SharedRing): string =>
  [...items]
    .filter(([key]) => key.startsWith('keys:'))
    .flat()
    .join('\n')

function change(ring: SharedRing, edit: (value: string) => string | undefined): void {
  for (const [key, value] of [...ring.items]) {
    if (!key.startsWith('keys:')) continue
    const edited = edit(value)
    if (edited === undefined) ring.items.delete(key)
    else ring.items.set(key, edited)
  }
}

const isRing = (value: string): boolean => value.includes('"ring"') || value.includes('"sealed"')

describe('a start with', () => {
  test('an older ring only, because the newest record is missing, is rejected like one without any', async () => {
    const ring = sharedRing()
    const { provider } = await ring.start()
    await provider.keys.rotate({ force: true })
    change(ring, (value) => (isRing(value) ? undefined : value))
    expect(snapshot(ring)).toContain('"superseded"')
    await expect(ring.start()).rejects.toThrow('keys: the storage refers to a key ring that is missing')
  })

  test.each([
    [
      'another secret',
      encryptionSecret,
      otherSecret,
      'the stored key ring was encrypted with another encryptionSecret; set that one',
    ],
    [
      'no secret for an encrypted ring',
      encryptionSecret,
      undefined,
      'the stored key ring is encrypted; set the encryptionSecret',
    ],
  ])('rejects %s with one message, and changes nothing', async (_what, before, after, message) => {
    const ring = sharedRing()
    await ring.start({ encryptionSecret: before })
    const stored = snapshot(ring)
    const start = ring.start(after === undefined ? {} : { encryptionSecret: after })
    await expect(start).rejects.toThrow(`keys: ${message}`)
    expect(snapshot(ring)).toBe(stored)
    // The right one still works.
    await ring.start({ encryptionSecret: before })
  })

  const damaged = /^keys: the stored key ring cannot be read: its record is damaged/u
  test.each([
    ['a torn record', (value: string) => (isRing(value) ? value.slice(0, -20) : value), damaged],
    [
      'a record of another release',
      (value: string) => (isRing(value) ? value.replace('"version":1', '"version":2') : value),
      damaged,
    ],
    [
      'a record of something else',
      (value: string) => (isRing(value) ? value.replace('"ring"', '"rung"') : value),
      damaged,
    ],
    ['a ring of another issuer', (value: string) => value.replace('id.example.com', 'id.example.org'), damaged],
    [
      'a ring whose record is missing',
      (value: string) => (isRing(value) ? undefined : value),
      /^keys: the storage refers to a key ring that is missing/u,
    ],
    [
      'a truncated key',
      (value: string) => value.replace(/"d":"[^"]{4}/u, '"d":"'),
      /^keys: the stored key [\w-]{43} cannot be imported/u,
    ],
  ])('rejects %s with one message, and changes nothing', async (_what, edit, message) => {
    const ring = sharedRing()
    await ring.start()
    change(ring, edit)
    const stored = snapshot(ring)
    const error: Error = await ring.start().then(
      () => expect.fail('it started'),
      (thrown) => thrown,
    )
    expect(error).toBeInstanceOf(TypeError)
    expect(error.message).toMatch(message)
    expect(error.message).not.toContain('\n')
    expect(snapshot(ring)).toBe(stored)
  })

  test('a damaged hint does no harm: the ring is found from its start', async () => {
    const ring = sharedRing()
    const f = await ring.start()
    for (const _ of [1, 2, 3]) await f.provider.keys.rotate({ force: true })
    const kids = kidsOf(await published(f))
    change(ring, (value) => (value.includes('"number"') && !isRing(value) ? '{' : value))
    expect(kidsOf(await published(await ring.start()))).toEqual(kids)
    change(ring, (value) => (value.includes('"number"') && !isRing(value) ? undefined : value))
    expect(kidsOf(await published(await ring.start()))).toEqual(kids)
  })
})

describe('a running process', () => {
  test('keeps signing with its keys when the ring becomes unreadable, and reports it', async () => {
    const ring = sharedRing()
    const f = await ring.start()
    const kids = kidsOf(await published(f))
    change(ring, (value) => (isRing(value) ? '{' : value))
    ring.clock.advance(6)
    const token = await tokenOf(f)
    await f.provider.close()
    expect(kids).toContain(kidOf(token))
    expect(await accepts(f, token)).toBe(true)
    expect(f.events).toContainEqual(
      expect.objectContaining({ type: 'unhandled_failure', reason: 'key_ring_unreadable' }),
    )
    await expect(f.provider.keys.rotate({ force: true })).rejects.toThrow('keys: the stored key ring cannot be read')
  })

  test('writes the ring again after the store was emptied, before another process creates one', async () => {
    const ring = sharedRing()
    const f = await ring.start({ encryptionSecret })
    await f.provider.keys.rotate({ force: true })
    const token = await tokenOf(f)
    ring.items.clear()
    ring.clock.advance(6)
    await tokenOf(f)
    await f.provider.close()
    expect(f.events).toContainEqual(expect.objectContaining({ reason: 'key_ring_lost' }))
    const restarted = await ring.start({ encryptionSecret })
    expect(await accepts(restarted, token)).toBe(true)
    expect(snapshot(ring)).not.toContain('"d"')
  })
})
