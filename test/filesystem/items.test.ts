// Items on disk, and foreign files beside them.
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FilesystemDriver, filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

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

describe.each([true, false])('with fsync: %s', (fsync) => {
  beforeEach(() => {
    driver = filesystemDriver({ directory, fsync })
  })

  test('an item exists until it is removed', async () => {
    expect(await driver.getItem('key')).toBeNull()
    expect(await driver.hasItem('key')).toBe(false)
    await driver.setItem('key', 'value', { ttl: 60 })
    expect(await driver.getItem('key')).toBe('value')
    expect(await driver.hasItem('key')).toBe(true)
    await driver.removeItem('key')
    await driver.removeItem('key')
    expect(await driver.getItem('key')).toBeNull()
    expect(files()).toEqual([])
  })

  test('overwriting an item leaves one file', async () => {
    for (const value of ['one', 'two', 'three', '']) {
      await driver.setItem('key', value, { ttl: 60 })
      expect(await driver.getItem('key')).toBe(value)
    }
    expect(files()).toHaveLength(1)
    expect(readdirSync(join(directory, 'tmp'))).toEqual([])
  })

  test('an item is inserted once, and again after it is removed or has expired', async () => {
    expect(await driver.insertItem('key', 'one', { ttl: 60 })).toBe(true)
    expect(await driver.insertItem('key', 'two', { ttl: 60 })).toBe(false)
    expect(await driver.getItem('key')).toBe('one')
    await driver.removeItem('key')
    expect(await driver.insertItem('key', 'three', { ttl: 60 })).toBe(true)
    advance(60)
    expect(await driver.insertItem('key', 'four', { ttl: 60 })).toBe(true)
    expect(await driver.getItem('key')).toBe('four')
    expect(files()).toHaveLength(1)
    expect(readdirSync(join(directory, 'tmp'))).toEqual([])
  })

  test('an item that has expired is overwritten', async () => {
    await driver.setItem('key', 'one', { ttl: 60 })
    advance(60)
    await driver.setItem('key', 'two', { ttl: 60 })
    expect(await driver.getItem('key')).toBe('two')
    expect(files()).toHaveLength(1)
  })

  test('exactly one of many concurrent inserts in one process succeeds', async () => {
    for (const round of [1, 2, 3]) {
      const racers = Array.from({ length: 25 }, (_, index) => driver.insertItem(`${round}`, `${index}`, { ttl: 60 }))
      const outcomes = await Promise.all(racers)
      expect(outcomes.filter(Boolean)).toHaveLength(1)
      expect(await driver.getItem(`${round}`)).toBe(`${outcomes.indexOf(true)}`)
    }
  })

  test('many concurrent writes of a key succeed and leave one value', async () => {
    const values = Array.from({ length: 25 }, (_, index) => `${index}`)
    await Promise.all(values.map((value) => driver.setItem('key', value)))
    expect(values).toContain(await driver.getItem('key'))
    await driver.removeItem('key')
    expect(await driver.getItem('key')).toBeNull()
  })
})

test('a value comes back unchanged', async () => {
  for (const value of ['', '\0', '\ufeff{}', 'ä🔑\r\n', '"', 'x'.repeat(1_000_000)]) {
    await driver.setItem('key', value)
    expect(await driver.getItem('key')).toBe(value)
  }
})

test('getKeys and clear filter by base and ignore expired items', async () => {
  for (const key of ['n', 'n:m', 'n:m:o', 'nm', 'other']) await driver.setItem(key, 'value')
  await driver.setItem('n:gone', 'value', { ttl: 1 })
  advance(1)
  expect((await driver.getKeys()).sort()).toEqual(['n', 'n:m', 'n:m:o', 'nm', 'other'])
  expect((await driver.getKeys('n:')).sort()).toEqual(['n:m', 'n:m:o'])
  await driver.clear('n:')
  expect((await driver.getKeys()).sort()).toEqual(['n', 'nm', 'other'])
  await driver.clear()
  expect(files()).toEqual([])
})

test('getMeta returns the time of the write and the size in bytes', async () => {
  expect(await driver.getMeta('key')).toBeNull()
  vi.useRealTimers()
  // The clock of the file system can be a few milliseconds behind.
  const before = Date.now() - 1000
  await driver.setItem('key', 'ä', { ttl: 3600 })
  const after = Date.now() + 1000
  const meta = await driver.getMeta('key')
  expect(meta?.size).toBe(2)
  expect(meta?.mtime.getTime()).toBeGreaterThanOrEqual(before)
  expect(meta?.mtime.getTime()).toBeLessThanOrEqual(after)
})

test('the later write wins, even if the clock was set back in between', async () => {
  await driver.setItem('key', 'one', { ttl: 86_400 })
  advance(-3600)
  await driver.setItem('key', 'two', { ttl: 86_400 })
  expect(await driver.getItem('key')).toBe('two')
  expect(files()).toHaveLength(1)
})

describe('a writer that was killed before it removed the overwritten file', () => {
  // Stops the sweep, which would remove the file.
  beforeEach(() => driver.dispose())

  /**
   * Leaves the slot of `key` as such a writer does: `two`, which expires in a second, beside `one`, which never
   * expires.
   */
  async function leaveBehind(): Promise<void> {
    await driver.setItem('key', 'one')
    const [earlier = ''] = files()
    copyFileSync(earlier, join(directory, 'kept'))
    await driver.setItem('key', 'two', { ttl: 1 })
    copyFileSync(join(directory, 'kept'), earlier)
    expect(files()).toHaveLength(2)
  }

  test('does not hide the new value', async () => {
    await leaveBehind()
    expect(await driver.getItem('key')).toBe('two')
    expect(await driver.purge()).toBe(0)
    expect(files()).toHaveLength(1)
    expect(await driver.getItem('key')).toBe('two')
  })

  test('does not restore the old value', async () => {
    const ways = [
      async () => expect(await driver.purge()).toBe(1),
      async () => expect(await driver.insertItem('key', 'three', { ttl: 1 })).toBe(true),
      async () => driver.setItem('key', 'three', { ttl: 1 }),
      async () => driver.removeItem('key'),
      async () => driver.clear('key'),
    ]
    for (const way of ways) {
      await leaveBehind()
      advance(1)
      expect(await driver.getItem('key')).toBeNull()
      await way()
      expect([null, 'three']).toContain(await driver.getItem('key'))
      advance(1)
      expect(await driver.getItem('key')).toBeNull()
      await driver.purge()
      expect(files()).toEqual([])
    }
  })
})

test('foreign files beside the slots are neither read nor removed and have no effect', async () => {
  await driver.setItem('key', 'value')
  const [file = ''] = files()
  for (const place of [join(file, '..', '..'), join(directory, 'items'), join(directory, 'tmp')]) {
    copyFileSync(file, join(place, '.DS_Store'))
  }
  expect(await driver.getKeys()).toEqual(['key'])
  advance(7200)
  expect(await driver.purge()).toBe(0)
  await driver.clear()
  expect(await driver.getKeys()).toEqual([])
  expect(readdirSync(join(directory, 'tmp'))).toEqual(['.DS_Store'])
  await filesystemDriver({ directory }).open()
})

test('foreign files in a slot are neither read nor removed and do not affect reads', async () => {
  await driver.setItem('key', 'one')
  const [file = ''] = files()
  copyFileSync(file, join(file, '..', '.DS_Store'))
  copyFileSync(file, join(file, '..', 'zzz'))
  await driver.setItem('key', 'two')
  expect(await driver.getItem('key')).toBe('two')
  await driver.removeItem('key')
  expect(await driver.getItem('key')).toBeNull()
  await driver.purge()
  expect(files()).toHaveLength(2)
  await expect(driver.insertItem('key', 'three', { ttl: 1 })).rejects.toThrow(
    "remove files from it that are not Grantry's",
  )
  expect(readdirSync(join(directory, 'tmp'))).toEqual([])
})
