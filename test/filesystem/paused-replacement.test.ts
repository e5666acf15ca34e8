// A replacement stands still between its steps: its process was suspended, or the clock was set.
import { mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createFlush } from '../../packages/storage-drivers/src/filesystem/flush.ts'
import { replaceItem } from '../../packages/storage-drivers/src/filesystem/replace-item.ts'
import { storeDirectory } from '../../packages/storage-drivers/src/filesystem/store-directory.ts'

let directory: string
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
  directory = mkdtempSync(join(tmpdir(), 'grantry-test-'))
})
afterEach(() => {
  vi.useRealTimers()
  rmSync(directory, { recursive: true })
})

/** Replaces `one` by `two`, and calls `meanwhile` between the storing of the value and the renaming of the item. */
async function replacedWith(ttl: number, meanwhile: () => Promise<void>) {
  const driver = filesystemDriver({ directory, fsync: false })
  await driver.setItem('key', 'one', { ttl })
  const flush = createFlush(false)
  let isPaused = false
  const pausing = {
    ...flush,
    async directory(path: string) {
      if (!isPaused && path.includes('items')) {
        isPaused = true
        await meanwhile()
      }
      return flush.directory(path)
    },
  }
  const store = storeDirectory(directory, pausing)
  const expiresAt = Date.now() + 86_400_000
  const isReplaced = await replaceItem(store, store.slotOf('key'), 'one', { value: 'two', expiresAt })
  expect(isPaused).toBe(true)
  return { driver, isReplaced }
}

test('a purge an hour later leaves the value that the item is about to get', async () => {
  const { driver, isReplaced } = await replacedWith(86_400, async () => {
    const old = new Date(Date.now() - 7_200_000)
    for (const path of readdirSync(directory, { recursive: true, encoding: 'utf8' }))
      if (path.includes('value-')) utimesSync(join(directory, path), old, old)
    await filesystemDriver({ directory, fsync: false }).purge()
  })
  expect(isReplaced).toBe(true)
  expect(await driver.getItem('key')).toBe('two')
  await driver.dispose()
})

test('an item that has ended meanwhile does not come back', async () => {
  const { driver, isReplaced } = await replacedWith(60, async () => {
    vi.setSystemTime(Date.now() + 61_000)
  })
  expect(isReplaced).toBe(false)
  expect(await driver.getItem('key')).toBeNull()
  expect(await driver.insertItem('key', 'three', { ttl: 60 })).toBe(true)
  await driver.dispose()
})
