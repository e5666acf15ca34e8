// The driver inside unstorage, which does not call open().
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { createStorage, prefixStorage, type Storage } from 'unstorage'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { testItemsInUnstorage } from '../support/unstorage-tests.ts'

let directory: string
let storage: Storage
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'grantry-test-'))
  storage = createStorage({ driver: filesystemDriver({ directory, fsync: false }) })
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

test('lists and clears by base, also through a prefix and a mount', async () => {
  for (const key of ['a', 'a:b', 'a:b:c', 'ab']) await storage.setItem(key, key)
  expect((await storage.getKeys('a')).sort()).toEqual(['a:b', 'a:b:c'])
  expect((await storage.getKeys()).sort()).toEqual(['a', 'a:b', 'a:b:c', 'ab'])
  expect(await prefixStorage(storage, 'a').getItem('b')).toBe('a:b')
  await storage.clear()
  expect(await storage.getKeys()).toEqual([])

  const mounted = join(directory, '..', `${directory.split('/').at(-1)}-mounted`)
  storage.mount('cache', filesystemDriver({ directory: mounted, fsync: false }))
  await storage.setItem('cache:key', 'value')
  await storage.setItem('key', 'other')
  expect((await storage.getKeys()).sort()).toEqual(['cache:key', 'key'])
  await storage.clear('cache')
  expect(await storage.getKeys()).toEqual(['key'])
  await storage.unmount('cache')
  rmSync(mounted, { recursive: true })
})

test('returns the metadata of the file and the metadata that was set', async () => {
  await storage.setItem('key', 'value')
  await storage.setMeta('key', { owner: 'alice' })
  const meta = await storage.getMeta('key')
  expect(meta).toMatchObject({ size: 5, owner: 'alice' })
  expect(meta.mtime).toBeInstanceOf(Date)
  expect(await storage.getMeta('absent')).toEqual({})
})

test('an unusable directory makes operations reject', async () => {
  const unfit = join(directory, 'file')
  writeFileSync(unfit, '')
  const unusable = createStorage({ driver: filesystemDriver({ directory: unfit }) })
  await expect(unusable.getItem('key')).rejects.toThrow('is a file; set a directory')
  await expect(unusable.setItem('key', 'value')).rejects.toThrow('is a file; set a directory')
  await expect(unusable.getKeys()).rejects.toThrow('is a file; set a directory')
})
