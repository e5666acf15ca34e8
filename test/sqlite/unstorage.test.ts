// The driver inside unstorage, which does not call open().
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteDriver } from '@grantry/storage-drivers/sqlite'
import { createStorage, prefixStorage, type Storage } from 'unstorage'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { testItemsInUnstorage } from '../support/unstorage-tests.ts'

let directory: string
let storage: Storage
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'grantry-test-'))
  storage = createStorage({ driver: sqliteDriver({ file: join(directory, 'grantry.db') }) })
})
afterEach(async () => {
  vi.useRealTimers()
  await storage.dispose()
  rmSync(directory, { recursive: true })
})

testItemsInUnstorage(() => storage)

test('expires an item after its ttl', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  await storage.setItem('key', 'value', { ttl: 5 })
  vi.setSystemTime(Date.now() + 4999)
  expect(await storage.getItem('key')).toBe('value')
  vi.setSystemTime(Date.now() + 1)
  expect(await storage.getItem('key')).toBeNull()
  expect(await storage.getKeys()).toEqual([])
})

test('lists and clears by base, also through a prefix', async () => {
  for (const key of ['a', 'a:b', 'a:b:c', 'ab']) await storage.setItem(key, key)
  expect((await storage.getKeys('a')).sort()).toEqual(['a:b', 'a:b:c'])
  expect((await storage.getKeys()).sort()).toEqual(['a', 'a:b', 'a:b:c', 'ab'])
  expect(await prefixStorage(storage, 'a').getItem('b')).toBe('a:b')
  await storage.clear()
  expect(await storage.getKeys()).toEqual([])
})
