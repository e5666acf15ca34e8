// Completed writes survive a power cut: names and contents are flushed first. Checked by the recorded file system
// calls, since a test cannot cut the power.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest'

const calls = vi.hoisted(() => ({
  directory: '',
  made: [] as string[],
  fails: false,
  opening: (_path: string): void => undefined,
}))

vi.mock('node:fs', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs')>()
  const paths = new Map<number, string>()
  const name = (path: unknown): string =>
    `${path}`
      .slice(calls.directory.length + 1)
      .replace(/^items\/[0-9a-f]{2}/, 'fan')
      .replaceAll(/[0-9a-z]{9}-[0-9a-f-]{36}-[0-9a-z]{9}/g, 'item')
      .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'draft')
  return {
    ...fs,
    openSync(path: string, flags: string, mode?: number) {
      calls.opening(path)
      const descriptor = fs.openSync(path, flags, mode)
      paths.set(descriptor, path)
      return descriptor
    },
    fsync(descriptor: number, done: (error: Error | null) => void) {
      const path = name(paths.get(descriptor))
      fs.fsync(descriptor, (error) => {
        calls.made.push(`flushed ${path}`)
        done(calls.fails ? Object.assign(new Error('the disk failed'), { code: 'EIO' }) : error)
      })
    },
    renameSync(from: string, to: string) {
      calls.made.push(`moved ${name(from)} to ${name(to)}`)
      fs.renameSync(from, to)
    },
    unlinkSync(path: string) {
      calls.made.push(`removed ${name(path)}`)
      fs.unlinkSync(path)
    },
  }
})
// Test files share the modules of their process: this one and the next load the readers of `node:fs` again.
vi.hoisted(() => vi.resetModules())
afterAll(() => void vi.resetModules())

let parent: string
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'grantry-test-'))
  calls.directory = join(parent, 'storage')
  calls.fails = false
  calls.opening = () => undefined
})
afterEach(() => rmSync(parent, { recursive: true }))

async function open(fsync: boolean) {
  const driver = filesystemDriver({ directory: calls.directory, fsync })
  await driver.open()
  // Stops the sweep, which runs in the background.
  await driver.dispose()
  return driver
}

/** Returns the calls that an operation makes until it resolves; concurrent flushes in alphabetical order. */
async function callsOf(operate: () => Promise<unknown>): Promise<readonly string[]> {
  calls.made = []
  await operate()
  const groups = calls.made.join('\n').split(/\n(?=moved|removed)|(?<=^(?:moved|removed).*)\n/m)
  return groups.flatMap((group) => group.split('\n').sort())
}

test('open flushes what it creates and the name of the directory itself', async () => {
  expect(relative(parent, calls.directory)).toBe('storage')
  const made = await callsOf(() => open(true))
  expect(made).toContain('flushed format')
  expect(made).toContain('flushed items')
  // The directory and its parent, whose path is shorter than the prefix that name() removes.
  expect(made.filter((call) => call === 'flushed ')).toHaveLength(2)
})

test('a new item is flushed before it is visible, and its directory before the call resolves', async () => {
  const driver = await open(true)
  const calls = ['flushed tmp/draft', 'flushed tmp/draft/item', 'moved tmp/draft to fan/key', 'flushed fan']
  expect(await callsOf(() => driver.setItem('key', 'value'))).toEqual(calls)
  await driver.removeItem('key')
  expect(await callsOf(() => driver.insertItem('key', 'value', { ttl: 60 }))).toEqual(calls)
})

test('an overwritten item stays until the new one is flushed', async () => {
  const driver = await open(true)
  await driver.setItem('key', 'one')
  expect(await callsOf(() => driver.setItem('key', 'two'))).toEqual([
    'flushed tmp/draft',
    'flushed tmp/draft/item',
    'moved tmp/draft/item to fan/key/item',
    'flushed fan',
    'flushed fan/key',
    'removed fan/key/item',
  ])
})

// The writer may have been killed before it flushed, and the refused caller relies on the existing item.
test('a refused insert flushes the existing item', async () => {
  const driver = await open(true)
  await (await open(false)).setItem('key', 'value')
  expect(await callsOf(() => driver.insertItem('key', 'other', { ttl: 60 }))).toEqual([
    'flushed fan',
    'flushed fan/key',
    'flushed fan/key/item',
  ])
})

test('an insert succeeds when the existing item disappears before it is flushed', async () => {
  const driver = await open(true)
  await driver.setItem('key', 'value')
  calls.opening = (path) => {
    if (!path.includes('/key/')) return
    calls.opening = () => undefined
    rmSync(path)
  }
  expect(await driver.insertItem('key', 'other', { ttl: 60 })).toBe(true)
  expect(await driver.getItem('key')).toBe('other')
})

test('a removal is flushed, even if another process began it', async () => {
  const driver = await open(true)
  await driver.setItem('key', 'value')
  expect(await callsOf(() => driver.removeItem('key'))).toEqual(['removed fan/key/item', 'flushed fan'])
  expect(await callsOf(() => driver.removeItem('key'))).toEqual(['flushed fan'])
  await driver.setItem('key', 'value')
  expect(await callsOf(() => driver.setItem('key', 'value', { ttl: 0 }))).toEqual([
    'removed fan/key/item',
    'flushed fan',
  ])
})

test('without fsync nothing is flushed', async () => {
  const driver = await open(false)
  const made = await callsOf(async () => {
    await driver.setItem('key', 'one')
    await driver.setItem('key', 'two')
    await driver.insertItem('key', 'three', { ttl: 60 })
    await driver.removeItem('key')
    await driver.clear()
  })
  expect(made.filter((call) => call.startsWith('flushed'))).toEqual([])
})

test('a write that cannot be flushed rejects, and its item is not visible', async () => {
  const driver = await open(true)
  calls.fails = true
  await expect(driver.setItem('key', 'value')).rejects.toThrow('the disk failed')
  await expect(driver.insertItem('key', 'value', { ttl: 60 })).rejects.toThrow('the disk failed')
  calls.fails = false
  expect(await driver.getItem('key')).toBeNull()
  expect(readdirSync(join(calls.directory, 'tmp'))).toEqual([])
})

test('a refused insert and a removal reject when the flush fails', async () => {
  const driver = await open(true)
  await driver.setItem('key', 'value')
  calls.fails = true
  await expect(driver.insertItem('key', 'other', { ttl: 60 })).rejects.toThrow('the disk failed')
  await expect(driver.removeItem('key')).rejects.toThrow('the disk failed')
})
