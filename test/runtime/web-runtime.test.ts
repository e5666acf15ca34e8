import { createHash } from 'node:crypto'
import { webRuntime } from '@grantry/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

describe('random bytes', () => {
  // The pool is 4096 bytes: 10,000 draws empty it about 78 times.
  test('are never the same twice in 10,000 draws', () => {
    const draws = Array.from({ length: 10_000 }, () => text(webRuntime.randomBytes(32)))
    expect(new Set(draws).size).toBe(10_000)
  })

  test('are never the same twice in draws of mixed lengths', () => {
    const lengths = [9, 16, 32, 12, 33, 4096, 1000, 17]
    const draws = Array.from({ length: 10_000 }, (_, index) => text(webRuntime.randomBytes(lengths[index % 8] ?? 9)))
    expect(new Set(draws).size).toBe(10_000)
    // Nor may part of an earlier draw occur again.
    const heads = draws.map((draw) => draw.slice(0, 18))
    expect(new Set(heads).size).toBe(10_000)
  })

  test.each([0, 1, 32, 4095, 4096, 4097, 65_536])('have exactly the requested length (%i)', (length) => {
    expect(webRuntime.randomBytes(length)).toHaveLength(length)
  })

  test('are still random when a draw takes the rest, and when it takes more', () => {
    for (const length of [4096, 1, 4095, 1, 4096, 4097, 4000, 96, 97]) {
      const bytes = webRuntime.randomBytes(length)
      // The pool is wiped behind a draw: a wrong offset would return zeros.
      if (length > 8) expect(bytes.every((byte) => byte === 0)).toBe(false)
    }
    const draws = Array.from({ length: 2000 }, () => webRuntime.randomBytes(31))
    for (const draw of draws) expect(draw.slice(-8).some((byte) => byte !== 0)).toBe(true)
  })

  test('are uniformly distributed', () => {
    const counts = new Array<number>(256).fill(0)
    for (let draw = 0; draw < 8192; draw += 1)
      for (const byte of webRuntime.randomBytes(32)) counts[byte] = (counts[byte] ?? 0) + 1
    // The expected count is 1024 with a standard deviation of 32: ten deviations are a defect, not chance.
    for (const count of counts) {
      expect(count).toBeGreaterThan(704)
      expect(count).toBeLessThan(1344)
    }
  })

  test('belong to the caller: writing to them changes no later draw', () => {
    const first = webRuntime.randomBytes(32)
    const second = webRuntime.randomBytes(32)
    const before = text(second)
    first.fill(7)
    expect(text(second)).toBe(before)
    expect(first.buffer).not.toBe(second.buffer)
    // Not a view of the pool: its holder could read the next code.
    expect(second.buffer.byteLength).toBe(32)
    for (let draw = 0; draw < 200; draw += 1) webRuntime.randomBytes(32)
    expect(text(second)).toBe(before)
  })
})

describe('hashing', () => {
  const node = (algorithm: string, data: Uint8Array): string => createHash(algorithm).update(data).digest('hex')

  test.each(['sha256', 'sha512'] as const)('%s equals that of node:crypto', async (algorithm) => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 1000 }), async (array) => {
        const data = new Uint8Array(array)
        expect(text(await webRuntime[algorithm](data))).toBe(node(algorithm, data))
      }),
      { numRuns: 500 },
    )
  })

  test.each(['sha256', 'sha512'] as const)('%s is correct at every block boundary', async (algorithm) => {
    for (const length of [0, 1, 55, 56, 63, 64, 65, 111, 112, 119, 127, 128, 129, 100_000]) {
      const data = new Uint8Array(length).fill(0xa5)
      expect(text(await webRuntime[algorithm](data))).toBe(node(algorithm, data))
    }
  })

  test.each(['sha256', 'sha512'] as const)('%s of a part of a buffer covers only that part', async (algorithm) => {
    const part = new Uint8Array(64).fill(1).subarray(10, 20)
    expect(text(await webRuntime[algorithm](part))).toBe(node(algorithm, part))
  })
})

describe('the clocks', () => {
  test('now() returns the wall clock in whole seconds', () => {
    const before = Math.floor(Date.now() / 1000)
    const now = webRuntime.now()
    expect(Number.isInteger(now)).toBe(true)
    expect(now).toBeGreaterThanOrEqual(before)
    expect(now).toBeLessThanOrEqual(Math.floor(Date.now() / 1000))
  })

  test('elapsed() never decreases', () => {
    let last = webRuntime.elapsed()
    for (let reading = 0; reading < 1000; reading += 1) {
      const next = webRuntime.elapsed()
      expect(next).toBeGreaterThanOrEqual(last)
      last = next
    }
  })
})
