// What the conformance kit cannot check of a counter: its files on disk.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { unstorageDriver } from '@grantry/storage-drivers/unstorage'
import { createStorage } from 'unstorage'
import { describe, expect, onTestFinished, test, vi } from 'vitest'

const newDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'grantry-counters-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

const filesIn = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [entry.name] : [],
  )

describe('a counter on disk', () => {
  test('is one file after any number of increments, and none after it has expired and was swept', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_800_000_000_000 })
    onTestFinished(() => void vi.useRealTimers())
    const directory = newDirectory()
    const driver = filesystemDriver({ directory })
    for (let count = 1; count <= 300; count += 1) expect(await driver.incrementItem('count:a', { ttl: 60 })).toBe(count)
    expect(filesIn(join(directory, 'items'))).toHaveLength(1)
    expect(filesIn(join(directory, 'tmp'))).toEqual([])
    vi.setSystemTime(1_800_000_060_000)
    await driver.purge()
    expect(filesIn(join(directory, 'items'))).toEqual([])
    expect(await driver.incrementItem('count:a', { ttl: 60 })).toBe(1)
    await driver.dispose()
  })

  test('restarts and counts no call twice when its file is removed during an increment', async () => {
    const driver = filesystemDriver({ directory: newDirectory() })
    const counts = await Promise.all([
      driver.incrementItem('count:a', { ttl: 60 }),
      driver.removeItem('count:a'),
      driver.incrementItem('count:a', { ttl: 60 }),
    ])
    expect([1, 2]).toContain(counts[2])
    await driver.dispose()
  })
})

test.each([
  ['memory', () => memoryDriver()],
  ['filesystem', () => filesystemDriver({ directory: newDirectory() })],
])('%s rejects a counter with a ttl of 0 or less', async (_, open) => {
  const driver = open()
  for (const ttl of [0, -1, Number.NaN]) {
    await expect(async () => driver.incrementItem('count:a', { ttl })).rejects.toThrow(/^The ttl of a counter is /u)
  }
  await driver.dispose()
})

test('memory does not increment an item that is not a counter', () => {
  const driver = memoryDriver()
  driver.setItem('a', '{"version":1}', { ttl: 60 })
  expect(() => driver.incrementItem('a', { ttl: 60 })).toThrow('The stored item of this key is not a counter')
})

describe('unstorage with a mount that has insertItem() but no incrementItem()', () => {
  const mixed = () => {
    const { incrementItem: _, ...silent } = memoryDriver()
    return createStorage({ driver: memoryDriver() }).mount('tokens', silent)
  }

  test('is rejected with the problem and the fix', () => {
    expect(() => unstorageDriver(mixed())).toThrow(
      new TypeError(
        'unstorageDriver(): memory at "tokens:" has no incrementItem(), so failures could not be counted across processes; mount a driver of @grantry/storage-drivers (and pass a prefix as { base }), or set { singleProcess: true } if no other process writes there',
      ),
    )
  })

  test('is rejected even if it is mounted later', async () => {
    const storage = createStorage({ driver: memoryDriver() })
    const driver = unstorageDriver(storage)
    const { incrementItem: _, ...silent } = memoryDriver()
    storage.mount('count', silent)
    await expect(driver.incrementItem('count:a', { ttl: 60 })).rejects.toThrow(/at "count:" has no incrementItem\(\)/u)
  })

  test('counts in this process with singleProcess', async () => {
    const driver = unstorageDriver(mixed(), { singleProcess: true })
    const counting = Array.from({ length: 20 }, () => driver.incrementItem('tokens:a', { ttl: 60 }))
    expect((await Promise.all(counting)).sort((left, right) => left - right)).toEqual(counting.map((_, at) => at + 1))
  })
})
