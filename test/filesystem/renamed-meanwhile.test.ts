// A replacement, or an increment, renames the file of an item while another operation lists its slot. A directory with
// hundreds of names is read in parts, so that the list can miss the item under both names.
import { mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FilesystemDriver, filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  isItemName,
  itemNameOf,
  newValueId,
  replacementOf,
  valueNameOf,
} from '../../packages/storage-drivers/src/filesystem/item-name.ts'
import { storeDirectory } from '../../packages/storage-drivers/src/filesystem/store-directory.ts'

type List = (path: string) => string[]
const disk = vi.hoisted(() => ({ list: undefined as ((path: string, list: List) => string[]) | undefined }))

vi.mock('node:fs', async (importOriginal) => {
  const original = await importOriginal<Record<string, unknown> & { readonly readdirSync: List }>()
  const list: List = (path) => original.readdirSync(path)
  return { ...original, readdirSync: (path: string) => (disk.list === undefined ? list(path) : disk.list(path, list)) }
})
// Test files share the modules of their process: this one and the next load the readers of `node:fs` again.
vi.hoisted(() => vi.resetModules())
afterAll(() => void vi.resetModules())

let directory: string
let driver: FilesystemDriver
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'grantry-test-'))
  driver = filesystemDriver({ directory, fsync: false })
})
afterEach(async () => {
  disk.list = undefined
  await driver.dispose()
  rmSync(directory, { recursive: true })
})

const slotOf = (key: string): string =>
  storeDirectory(directory, { file: async () => true, directory: async () => true }).slotOf(key).path

/** The value of a replacement that was killed. */
const plantValue = (key: string): void => writeFileSync(join(slotOf(key), valueNameOf(newValueId())), 'planted')

describe('an item that a list of its slot misses', () => {
  beforeEach(async () => {
    await driver.setItem('key', 'one', { ttl: 60 })
    plantValue('key')
    let misses = 3
    disk.list = (path, list) => {
      const names = list(path)
      if (path !== slotOf('key')) return names
      misses -= 1
      return misses < 0 ? names : names.filter((name) => !isItemName(name))
    }
  })

  const operations: Readonly<Record<string, readonly [act: () => unknown, result: unknown, after: string | null]>> = {
    getItem: [() => driver.getItem('key'), 'one', 'one'],
    hasItem: [() => driver.hasItem('key'), true, 'one'],
    getKeys: [() => driver.getKeys(), ['key'], 'one'],
    insertItem: [() => driver.insertItem('key', 'two', { ttl: 60 }), false, 'one'],
    replaceItem: [() => driver.replaceItem('key', { from: 'one', to: 'two', ttl: 60 }), true, 'two'],
    setItem: [() => driver.setItem('key', 'two', { ttl: 60 }), undefined, 'two'],
    removeItem: [() => driver.removeItem('key'), undefined, null],
    clear: [() => driver.clear(), undefined, null],
    purge: [() => driver.purge(), 0, 'one'],
  }

  test.each(Object.keys(operations))('is found by %s()', async (name) => {
    const [act, result, after] = operations[name] as (typeof operations)[string]
    expect(await act()).toEqual(result)
    expect(await driver.getItem('key')).toBe(after)
  })
})

test('a slot with the values of killed replacements alone has no item', async () => {
  await driver.setItem('key', 'one', { ttl: 60 })
  plantValue('key')
  for (const name of readdirSync(slotOf('key'))) if (isItemName(name)) rmSync(join(slotOf('key'), name))
  expect(await driver.getItem('key')).toBeNull()
  expect(await driver.insertItem('key', 'two', { ttl: 60 })).toBe(true)
})

describe('a removal', () => {
  /** Calls `rename` after the first list of the slot. */
  function afterTheList(key: string, rename: (slot: string, name: string) => void): void {
    const slot = slotOf(key)
    disk.list = (path, list) => {
      const names = list(path)
      const item = names.find(isItemName)
      if (path === slot && item !== undefined) {
        disk.list = undefined
        rename(slot, item)
      }
      return names
    }
  }

  const removals: Readonly<Record<string, (key: string) => Promise<void>>> = {
    removeItem: (key) => driver.removeItem(key),
    clear: () => driver.clear(),
    'setItem with a ttl of 0': (key) => driver.setItem(key, '', { ttl: 0 }),
  }

  test.each(Object.keys(removals))('removes an item that was replaced meanwhile: %s', async (name) => {
    await driver.setItem('key', 'one', { ttl: 60 })
    afterTheList('key', (slot, item) => {
      const id = newValueId()
      writeFileSync(join(slot, valueNameOf(id)), 'two')
      renameSync(join(slot, item), join(slot, replacementOf(item, id, Date.now() + 60_000)))
    })
    await removals[name]?.('key')
    expect(disk.list).toBeUndefined()
    expect(await driver.getItem('key')).toBeNull()
  })

  test.each(Object.keys(removals))('removes a counter that counted meanwhile: %s', async (name) => {
    await driver.incrementItem('key', { ttl: 60 })
    afterTheList('key', (slot, item) => renameSync(join(slot, item), join(slot, itemNameOf(1, Date.now() + 60_000))))
    await removals[name]?.('key')
    expect(disk.list).toBeUndefined()
    expect(await driver.incrementItem('key', { ttl: 60 })).toBe(1)
  })
})
