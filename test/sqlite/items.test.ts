// Keys, values and lifetimes that engines of SQLite would change.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type SqliteDriver, sqliteDriver } from '@grantry/storage-drivers/sqlite'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

let directory: string
let driver: SqliteDriver
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'grantry-test-'))
  driver = sqliteDriver({ file: join(directory, 'grantry.db') })
})
afterEach(async () => {
  vi.useRealTimers()
  await driver.dispose()
  rmSync(directory, { recursive: true })
})

test.each([
  ['a NUL', 'a\0b'],
  ['only a NUL', '\0'],
  ['a lone surrogate', 'x\ud800y'],
  ['a reversed pair', '\udc00\ud800'],
  ['nothing', ''],
  ['100,000 characters and a NUL', `${'€😀'.repeat(33_333)}\0`],
])('returns a value with %s unchanged', async (_what, value) => {
  await driver.setItem('key', value, { ttl: 60 })
  expect(await driver.getItem('key')).toBe(value)
  const items: unknown[] = []
  for await (const batch of driver.listItems()) items.push(...batch)
  expect(items).toEqual([{ key: 'key', value, endsAt: expect.any(Number) }])
})

test('rejects a value that is no text, and a key that has no bytes of its own', async () => {
  for (const value of [1, null, undefined, {}, new Uint8Array(2)] as never[]) {
    await expect(driver.setItem('key', value, { ttl: 60 })).rejects.toThrow(TypeError)
    await expect(driver.commit({ create: [], put: [{ key: 'key', value, ttl: 60 }], remove: [] })).rejects.toThrow(
      'The value of a stored item is not a string',
    )
  }
  const operations: readonly (() => unknown)[] = [
    () => driver.getItem('\ud800'),
    () => driver.getItems([{ key: '\ud800' }]),
    () => driver.hasItem('\ud800'),
    () => driver.removeItem('\ud800'),
    () => driver.incrementItem('\ud800', { ttl: 60 }),
  ]
  for (const operate of operations) {
    await expect(Promise.resolve().then(operate)).rejects.toThrow('is not well-formed Unicode')
  }
  expect(await driver.getKeys()).toEqual([])
})

test('rejects lifetimes that are no time, and keeps items with a very long one', async () => {
  for (const ttl of [0, -1, Number.NaN, Number.NEGATIVE_INFINITY, undefined as never]) {
    await expect(driver.insertItem('key', '{}', { ttl })).rejects.toThrow(`The ttl of an inserted item is ${ttl} s`)
    await expect(driver.incrementItem('key', { ttl })).rejects.toThrow(`The ttl of a counter is ${ttl} s`)
    const item = { key: 'key', value: '{}', ttl }
    await expect(driver.commit({ create: [item], put: [], remove: [] })).rejects.toThrow('The ttl of a committed item')
    await expect(driver.commit({ create: [], put: [item], remove: [] })).rejects.toThrow('The ttl of a committed item')
  }
  await expect(driver.setItem('key', '{}', { ttl: Number.NaN })).rejects.toThrow('is not a number')
  expect(await driver.getItem('key')).toBeNull()
  for (const [index, ttl] of [1e10, 1e300, Number.MAX_VALUE, Number.POSITIVE_INFINITY].entries()) {
    expect(await driver.insertItem(`long:${index}`, '{}', { ttl })).toBe(true)
    expect(await driver.insertItem(`long:${index}`, '{}', { ttl: 60 })).toBe(false)
  }
  await driver.setItem('short', '{}', { ttl: Number.MIN_VALUE })
  expect(await driver.getItem('short')).toBeNull()
  await driver.setItem('long:1', '{}', { ttl: 0 })
  expect(await driver.getItem('long:1')).toBeNull()
})

test('rejects an increment of an item that is no counter, and performs the others of the turn', async () => {
  await driver.setItem('text', 'abc', { ttl: 60 })
  await driver.setItem('large', '9'.repeat(16), { ttl: 60 })
  await driver.setItem('nul', '1\0', { ttl: 60 })
  const outcomes = await Promise.allSettled(
    ['text', 'count', 'large', 'count', 'nul'].map((key) => driver.incrementItem(key, { ttl: 60 })),
  )
  const refused = { status: 'rejected', reason: new TypeError('The stored item of this key is not a counter') }
  expect(outcomes).toEqual([
    refused,
    { status: 'fulfilled', value: 1 },
    refused,
    { status: 'fulfilled', value: 2 },
    refused,
  ])
  expect(await driver.getItem('text')).toBe('abc')
})

test('lists the items with their ends in batches, and counts them', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_900_000_000_000 })
  const puts = Array.from({ length: 450 }, (_, index) => ({ key: `code:${index}`, value: `${index}`, ttl: 60 }))
  await driver.commit({ create: [], put: puts, remove: [] })
  await driver.setItem('forever', 'kept')
  await driver.setItem('gone', '', { ttl: 5 })
  vi.setSystemTime(Date.now() + 5000)
  const items = []
  for await (const batch of driver.listItems()) items.push(...batch)
  expect(items).toHaveLength(451)
  expect(items.find(({ key }) => key === 'forever')).toEqual({
    key: 'forever',
    value: 'kept',
    endsAt: Number.POSITIVE_INFINITY,
  })
  expect(items.find(({ key }) => key === 'code:7')).toEqual({ key: 'code:7', value: '7', endsAt: 1_900_000_060_000 })
  expect(await driver.countItems()).toBe(452)
})

test('purge() removes every expired item in steps, and keeps the others', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_900_000_000_000 })
  const puts = Array.from({ length: 1250 }, (_, index) => ({ key: `code:${index}`, value: '{}', ttl: 5 }))
  await driver.commit({ create: [], put: puts, remove: [] })
  await driver.setItem('kept', '{}', { ttl: 6 })
  vi.setSystemTime(Date.now() + 5000)
  expect(await driver.purge()).toBe(1250)
  expect(await driver.countItems()).toBe(1)
  expect(await driver.purge()).toBe(0)
  expect(await driver.getKeys()).toEqual(['kept'])
})
