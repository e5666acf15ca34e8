// The disk of the driver is unmounted, or comes back, between two calls of one operation to the file system. An operation
// must reject, or do what it reports: a store that is away must not look like one in which nothing was stored.
import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FilesystemDriver, filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

const disk = vi.hoisted(() => ({ beforeCall: undefined as (() => void) | undefined }))

vi.mock('node:fs', async (importOriginal) => {
  const original = await importOriginal<Record<string, unknown>>()
  const watched = Object.entries(original).map(([name, member]) => [
    name,
    name.endsWith('Sync') && typeof member === 'function'
      ? (...parameters: readonly unknown[]) => {
          disk.beforeCall?.()
          return member(...parameters)
        }
      : member,
  ])
  return Object.fromEntries(watched)
})
// Test files share the modules of their process: this one and the next load the readers of `node:fs` again.
vi.hoisted(() => vi.resetModules())
afterAll(() => void vi.resetModules())

/** More than any operation needs: the last ones are not interrupted. */
const maxCalls = 25

let parent: string
let directory: string
let driver: FilesystemDriver
beforeEach(async () => {
  parent = mkdtempSync(join(tmpdir(), 'grantry-test-'))
  directory = join(parent, 'store')
  driver = filesystemDriver({ directory, fsync: false })
  await driver.setItem('key', 'one', { ttl: 60 })
})
afterEach(async () => {
  disk.beforeCall = undefined
  await driver.dispose()
  rmSync(parent, { recursive: true })
})

const unmount = (): void => renameSync(directory, `${directory}.away`)
const mount = (): void => renameSync(`${directory}.away`, directory)

/** Calls `happen` once, before the call to the file system with this number. */
function beforeCall(number: number, happen: () => void): void {
  let calls = 0
  disk.beforeCall = () => {
    calls += 1
    if (calls !== number) return
    disk.beforeCall = undefined
    happen()
  }
}

const failed = Symbol('failed')
const resultOf = (operation: Promise<unknown>): Promise<unknown> => operation.catch(() => failed)

interface Operation {
  readonly act: () => Promise<unknown>
  readonly result: unknown
  /** The value afterwards, when the operation has resolved. */
  readonly after: string | null
}

const operations: Readonly<Record<string, Operation>> = {
  getItem: { act: () => driver.getItem('key'), result: 'one', after: 'one' },
  hasItem: { act: () => driver.hasItem('key'), result: true, after: 'one' },
  insertItem: { act: () => driver.insertItem('key', 'two', { ttl: 60 }), result: false, after: 'one' },
  'replaceItem of this value': {
    act: () => driver.replaceItem('key', { from: 'one', to: 'two', ttl: 60 }),
    result: true,
    after: 'two',
  },
  'replaceItem of another value': {
    act: () => driver.replaceItem('key', { from: 'other', to: 'two', ttl: 60 }),
    result: false,
    after: 'one',
  },
  setItem: { act: () => driver.setItem('key', 'two', { ttl: 60 }), result: undefined, after: 'two' },
  removeItem: { act: () => driver.removeItem('key'), result: undefined, after: null },
  getKeys: { act: () => driver.getKeys(), result: ['key'], after: 'one' },
  listKeys: { act: () => driver.listKeys('', { after: '', limit: 10 }), result: ['key'], after: 'one' },
  clear: { act: () => driver.clear(), result: undefined, after: null },
  purge: { act: () => driver.purge(), result: 0, after: 'one' },
}
const names = Object.keys(operations)

describe.each(Array.from({ length: maxCalls }, (_, index) => index + 1))('at call %i', (number) => {
  test.each(names)('the directory disappears: %s', async (name) => {
    const { act, result, after } = operations[name] as Operation
    beforeCall(number, unmount)
    const outcome = await resultOf(act())
    const wasInterrupted = disk.beforeCall === undefined
    disk.beforeCall = undefined
    if (wasInterrupted) mount()
    if (outcome !== failed) {
      expect(outcome).toEqual(result)
      expect(await driver.getItem('key')).toBe(after)
    }
  })

  test.each(names)('the directory returns: %s', async (name) => {
    const { act, result, after } = operations[name] as Operation
    unmount()
    beforeCall(number, mount)
    const outcome = await resultOf(act())
    if (disk.beforeCall !== undefined) {
      disk.beforeCall = undefined
      mount()
      expect(outcome).toBe(failed)
    }
    if (outcome !== failed) {
      expect(outcome).toEqual(result)
      expect(await driver.getItem('key')).toBe(after)
    }
  })
})
