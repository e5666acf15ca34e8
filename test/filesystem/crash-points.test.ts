// Each operation is interrupted at each of its file system changes in turn, like a SIGKILL at that point. The item must
// then have its old or its new value: not torn, not missing, and no older value, which would be an overwritten token
// that works again.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FilesystemDriver, filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest'

const disk = vi.hoisted(() => ({ changesLeft: Number.POSITIVE_INFINITY, keepsAll: false }))

vi.mock('node:fs', async (importOriginal) => {
  const original = await importOriginal<Record<string, (...args: readonly unknown[]) => unknown>>()
  const killed = (): never => {
    throw Object.assign(new Error('killed'), { code: 'EIO' })
  }
  const cut = (name: string) => {
    const change = original[name] ?? killed
    return (...args: readonly unknown[]) => {
      if (name === 'unlinkSync' && disk.keepsAll) return undefined
      disk.changesLeft -= 1
      if (disk.changesLeft >= 0) return change(...args)
      // Killed in the middle of the call.
      if (disk.changesLeft === -1 && name === 'writeFileSync') change(args[0], 'th', args[2])
      if (disk.changesLeft === -1 && name === 'rmSync') original.rmSync?.(`${args[0]}/item`, { force: true })
      return killed()
    }
  }
  const changing = ['mkdirSync', 'writeFileSync', 'renameSync', 'unlinkSync', 'rmdirSync', 'rmSync']
  return { ...original, ...Object.fromEntries(changing.map((name) => [name, cut(name)])) }
})
// Test files share the modules of their process: this one and the next load the readers of `node:fs` again.
vi.hoisted(() => vi.resetModules())
afterAll(() => void vi.resetModules())

let directory: string
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
  directory = mkdtempSync(join(tmpdir(), 'grantry-test-'))
})
afterEach(() => {
  vi.useRealTimers()
  disk.changesLeft = Number.POSITIVE_INFINITY
  rmSync(directory, { recursive: true })
})

const advance = (seconds: number): void => {
  vi.setSystemTime(Date.now() + seconds * 1000)
}

/** Overwrites an item without expiry with `two`, and leaves the overwritten file behind like a killed writer. */
async function overwritten(driver: FilesystemDriver, ttl: number): Promise<void> {
  await driver.setItem('key', 'one')
  disk.keepsAll = true
  await driver.setItem('key', 'two', { ttl })
  disk.keepsAll = false
}

const absent = async (): Promise<void> => undefined
const live = (driver: FilesystemDriver): Promise<void> => overwritten(driver, 86_400)
const expired = async (driver: FilesystemDriver): Promise<void> => {
  await overwritten(driver, 1)
  advance(1)
}

/** Replaces an item that was replaced before, and leaves the files that were removed behind like a killed process. */
async function replaced(driver: FilesystemDriver, ttl: number): Promise<void> {
  await driver.setItem('key', 'zero')
  disk.keepsAll = true
  await driver.replaceItem('key', { from: 'zero', to: 'one', ttl: 86_400 })
  await driver.replaceItem('key', { from: 'one', to: 'two', ttl })
  disk.keepsAll = false
}
const replacedLive = (driver: FilesystemDriver): Promise<void> => replaced(driver, 86_400)
const replacedExpired = async (driver: FilesystemDriver): Promise<void> => {
  await replaced(driver, 1)
  advance(1)
}
const replace = (driver: FilesystemDriver): Promise<unknown> =>
  driver.replaceItem('key', { from: 'two', to: 'three', ttl: 86_400 })

const set = (driver: FilesystemDriver): Promise<unknown> => driver.setItem('key', 'three', { ttl: 86_400 })
const insert = (driver: FilesystemDriver): Promise<unknown> => driver.insertItem('key', 'three', { ttl: 86_400 })
const remove = (driver: FilesystemDriver): Promise<unknown> => driver.removeItem('key')
const clear = (driver: FilesystemDriver): Promise<unknown> => driver.clear()
const purge = (driver: FilesystemDriver): Promise<unknown> => driver.purge()

test.each([
  ['setting', 'absent', absent, set, null, 'three'],
  ['setting', 'live', live, set, 'two', 'three'],
  ['setting', 'expired', expired, set, null, 'three'],
  ['inserting', 'absent', absent, insert, null, 'three'],
  ['inserting', 'expired', expired, insert, null, 'three'],
  ['removing', 'live', live, remove, 'two', null],
  ['removing', 'expired', expired, remove, null, null],
  ['clearing', 'live', live, clear, 'two', null],
  ['purging', 'live', live, purge, 'two', 'two'],
  ['replacing', 'live', live, replace, 'two', 'three'],
  ['replacing', 'replaced', replacedLive, replace, 'two', 'three'],
  ['setting', 'replaced', replacedLive, set, 'two', 'three'],
  ['setting', 'replaced and expired', replacedExpired, set, null, 'three'],
  ['inserting', 'replaced and expired', replacedExpired, insert, null, 'three'],
  ['removing', 'replaced', replacedLive, remove, 'two', null],
  ['clearing', 'replaced', replacedLive, clear, 'two', null],
  ['purging', 'replaced and expired', replacedExpired, purge, null, null],
  ['purging', 'expired', expired, purge, null, null],
])('%s an item that is %s can be interrupted anywhere', async (_doing, _state, prepare, operate, before, after) => {
  let cuts = 0
  for (let complete = false; !complete && cuts < 20; cuts += 1) {
    const driver = filesystemDriver({ directory, fsync: false })
    await driver.open()
    await prepare(driver)
    // Stops the sweep, which is not part of the operation.
    await driver.dispose()

    disk.changesLeft = cuts
    complete = await operate(driver).then(
      () => true,
      (error: Error) => {
        expect(error.message).toBe('killed')
        return false
      },
    )
    disk.changesLeft = Number.POSITIVE_INFINITY

    const survivor = filesystemDriver({ directory, fsync: false })
    const value = await survivor.getItem('key')
    expect(complete ? [after] : [before, after]).toContain(value)
    expect(await survivor.getKeys()).toEqual(value === null ? [] : ['key'])
    expect(await survivor.insertItem('key', 'four', { ttl: 60 })).toBe(value === null)
    await survivor.setItem('key', 'five', { ttl: 60 })
    expect(await survivor.getItem('key')).toBe('five')
    // Only the purge may remove the item.
    await survivor.dispose()
    advance(7200)
    expect(await survivor.purge()).toBe(1)
    const left = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    expect(left.filter((path) => /^(?:tmp|items[/\\]..)[/\\]/.test(path))).toEqual([])
  }
  expect(cuts).toBeGreaterThan(1)
})

// The writer may only be suspended. If it moved an emptied folder to its slot, the insert would succeed but store
// nothing.
test('a sweep renames a draft before it removes anything of it', async () => {
  const driver = filesystemDriver({ directory, fsync: false })
  await driver.open()
  const draft = join(directory, 'tmp', 'draft')
  advance(7200)
  for (let cuts = 0; cuts < 5; cuts += 1) {
    mkdirSync(draft, { recursive: true })
    writeFileSync(join(draft, 'item'), 'value')
    disk.changesLeft = cuts
    await driver.purge().catch((error: Error) => expect(error.message).toBe('killed'))
    disk.changesLeft = Number.POSITIVE_INFINITY
    if (existsSync(draft)) expect(readdirSync(draft)).toEqual(['item'])
  }
  await driver.purge()
  expect(readdirSync(join(directory, 'tmp'))).toEqual([])
})
