// An item lives exactly as long as its ttl, to the millisecond, regardless of earlier writes and sweeps.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FilesystemDriver, filesystemDriver } from '@grantry/storage-drivers/filesystem'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { isLong } from '../support/rounds.ts'

let directory: string
let driver: FilesystemDriver
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
  directory = mkdtempSync(join(tmpdir(), 'grantry-test-'))
  driver = filesystemDriver({ directory, fsync: false })
})
afterEach(async () => {
  vi.useRealTimers()
  await driver.dispose()
  rmSync(directory, { recursive: true })
})

const advance = (seconds: number): void => {
  vi.setSystemTime(Date.now() + seconds * 1000)
}
/** Returns the paths of the item files, live or expired. */
const files = (): string[] =>
  readdirSync(join(directory, 'items'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.split('/').length === 3)
    .map((path) => join(directory, 'items', path))

describe('an item lives', () => {
  test.each([
    [1, 1],
    [0.5, 0.5],
    [0.001, 0.001],
    [0.0001, 0.001],
    [40 * 86_400, 40 * 86_400],
    [100 * 365 * 86_400, 100 * 365 * 86_400],
  ])('%d seconds exactly', async (ttl, lives) => {
    await driver.setItem('set', 'value', { ttl })
    await driver.insertItem('inserted', 'value', { ttl })
    advance(lives - 0.001)
    for (const key of ['set', 'inserted']) {
      expect(await driver.getItem(key)).toBe('value')
      expect(await driver.insertItem(key, 'value', { ttl: 1 })).toBe(false)
    }
    advance(0.001)
    for (const key of ['set', 'inserted']) {
      expect(await driver.getItem(key)).toBeNull()
      expect(await driver.hasItem(key)).toBe(false)
      expect(await driver.getMeta(key)).toBeNull()
    }
    expect(await driver.getKeys()).toEqual([])
    expect(await driver.insertItem('set', 'value', { ttl: 1 })).toBe(true)
  })

  test.each([
    ['no ttl', {}],
    ['a ttl of undefined', { ttl: undefined }],
    ['an infinite ttl', { ttl: Number.POSITIVE_INFINITY }],
    ['a ttl beyond any date', { ttl: Number.MAX_VALUE }],
  ])('indefinitely with %s', async (_what, options) => {
    await driver.setItem('key', 'value', options as { ttl: number })
    advance(1000 * 365 * 86_400)
    expect(await driver.getItem('key')).toBe('value')
    expect(await driver.purge()).toBe(0)
  })

  test('as long as its last write says, even if an earlier one had no ttl', async () => {
    await driver.setItem('key', 'one')
    await driver.setItem('key', 'two', { ttl: 1 })
    advance(1)
    expect(await driver.getItem('key')).toBeNull()
    await driver.setItem('key', 'three', { ttl: 1 })
    await driver.setItem('key', 'four')
    advance(1)
    expect(await driver.getItem('key')).toBe('four')
  })

  test.each([0, -0, -1, Number.NEGATIVE_INFINITY])('not at all with a ttl of %d', async (ttl) => {
    await driver.setItem('key', 'value', { ttl })
    expect(await driver.getItem('key')).toBeNull()
    await driver.setItem('key', 'value')
    await driver.setItem('key', 'value', { ttl })
    expect(await driver.getItem('key')).toBeNull()
    expect(await driver.insertItem('key', 'value', { ttl })).toBe(true)
    expect(files()).toEqual([])
    await driver.setItem('key', 'value')
    expect(await driver.insertItem('key', 'other', { ttl })).toBe(false)
    expect(await driver.getItem('key')).toBe('value')
  })

  test('not at all with a ttl that is not a number', async () => {
    await driver.setItem('key', 'value')
    await expect(driver.setItem('key', 'other', { ttl: Number.NaN })).rejects.toThrow('not a number')
    await expect(driver.insertItem('new', 'other', { ttl: Number.NaN })).rejects.toThrow('not a number')
    expect(await driver.getKeys()).toEqual(['key'])
  })
})

test('behaves like a map with expiry for any sequence of writes, removals, purges and waits', async () => {
  const key = fc.integer({ min: 0, max: 5 }).map((number) => `key ${number}`)
  const ttl = fc.oneof(fc.integer({ min: -1, max: 20 }), fc.double({ min: 0.001, max: 5, noNaN: true }))
  const step = fc.oneof(
    fc.record({ set: key, ttl }),
    fc.record({ insert: key, ttl }),
    fc.record({ remove: key }),
    fc.record({ wait: fc.integer({ min: 0, max: 9000 }) }),
    fc.record({ purge: fc.constant(true) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      await driver.clear()
      const model = new Map<string, { readonly value: string; readonly end: number }>()
      const live = (name: string) => {
        const item = model.get(name)
        return item !== undefined && item.end > Date.now() ? item : undefined
      }
      const endOf = (seconds: number): number => Math.ceil(Date.now() + seconds * 1000)
      for (const [index, next] of steps.entries()) {
        const value = `${index}`
        if ('wait' in next) advance(next.wait / 1000)
        else if ('purge' in next) await driver.purge()
        else if ('remove' in next) {
          await driver.removeItem(next.remove)
          model.delete(next.remove)
        } else if ('set' in next) {
          await driver.setItem(next.set, value, { ttl: next.ttl })
          model.set(next.set, { value, end: endOf(next.ttl) })
        } else {
          const absent = live(next.insert) === undefined
          expect(await driver.insertItem(next.insert, value, { ttl: next.ttl })).toBe(absent)
          if (absent) model.set(next.insert, { value, end: endOf(next.ttl) })
        }
        for (let number = 0; number <= 5; number += 1) {
          expect(await driver.getItem(`key ${number}`)).toBe(live(`key ${number}`)?.value ?? null)
        }
      }
      await driver.purge()
      expect(files()).toHaveLength([...model.keys()].filter(live).length)
    }),
    { numRuns: isLong ? 1000 : 15 },
  )
})
