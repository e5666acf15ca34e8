// A disk that is full or read-only: the message names the problem and the path, no partial file stays, and everything
// works again afterwards.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FilesystemDriver, filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

const disk = vi.hoisted(() => ({ code: undefined as string | undefined }))

vi.mock('node:fs', async (importOriginal) => {
  const original = await importOriginal<typeof import('node:fs')>()
  const error = (call: string, path?: string): Error =>
    // As Node.js: a failed write names no path.
    Object.assign(new Error(`${disk.code}: of the system, ${call}${path === undefined ? '' : ` '${path}'`}`), {
      code: disk.code,
      ...(path !== undefined && { path }),
    })
  const isFull = () => disk.code === 'ENOSPC' || disk.code === 'EDQUOT'
  return {
    ...original,
    mkdirSync(path: string, ...rest: []) {
      if (disk.code !== undefined && !isFull()) throw error('mkdir', path)
      return original.mkdirSync(path, ...rest)
    },
    writeSync(...args: Parameters<typeof original.writeSync>) {
      if (disk.code !== undefined) throw error('write')
      return original.writeSync(...args)
    },
    writeFileSync(path: string, data: string, ...rest: []) {
      if (!isFull()) return original.writeFileSync(path, data, ...rest)
      // There is room for the name but not for the content.
      original.writeFileSync(path, '', ...rest)
      if (data !== '') throw error('write')
    },
  }
})
// Test files share the modules of their process: this one and the next load the readers of `node:fs` again.
vi.hoisted(() => vi.resetModules())
afterAll(() => void vi.resetModules())

let directory: string
let driver: FilesystemDriver
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'grantry-test-'))
  driver = filesystemDriver({ directory: `${directory}/data`, fsync: false })
})
afterEach(async () => {
  disk.code = undefined
  vi.useRealTimers()
  await driver.dispose()
  rmSync(directory, { recursive: true })
})

const messageOf = (operation: Promise<unknown>): Promise<string> =>
  operation.then(
    () => expect.fail('it worked'),
    (error: Error) => error.message,
  )

const sentences: readonly [string, (directory: string) => string | RegExp][] = [
  ['ENOSPC', (path) => `the disk of ${path} is full (ENOSPC); free some space`],
  ['EDQUOT', (path) => `the disk quota for ${path} is exhausted (EDQUOT); raise it or free some space`],
  ['EROFS', (path) => `the file system of ${path} is read-only (EROFS); mount it with write access`],
  [
    'EACCES',
    (path) =>
      new RegExp(`^${path}/tmp/[^/]+ cannot be accessed \\(EACCES\\); make the user of this process its owner$`),
  ],
]

describe.each(sentences)('%s', (code, sentence) => {
  test('is reported by a failed write with the path; items stay, and the next write works', async () => {
    await driver.setItem('there', 'one', { ttl: 60 })
    disk.code = code
    for (const write of [
      () => driver.setItem('there', 'two', { ttl: 60 }),
      () => driver.setItem('new', 'two', { ttl: 60 }),
      () => driver.insertItem('new', 'two', { ttl: 60 }),
    ]) {
      const message = await messageOf(write())
      expect(message).toMatch(sentence(`${directory}/data`))
      expect(message).not.toContain('no such file')
    }
    expect(await driver.getItem('there')).toBe('one')
    expect(await driver.getItem('new')).toBeNull()
    expect(await driver.insertItem('there', 'two', { ttl: 60 })).toBe(false)
    disk.code = undefined
    expect(readdirSync(`${directory}/data/tmp`)).toEqual([])
    expect(await driver.insertItem('new', 'two', { ttl: 60 })).toBe(true)
  })

  test('is reported by a failed open, and a later one works', async () => {
    disk.code = code
    const expected = code === 'EACCES' ? `${directory}/data cannot be used (EACCES)` : sentence(`${directory}/data`)
    expect(await messageOf(driver.open())).toMatch(expected)
    disk.code = undefined
    await driver.open()
  })
})

test('on a full disk, failed writes remove expired items', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  await driver.setItem('expired', 'one', { ttl: 1 })
  vi.setSystemTime(Date.now() + 1000)
  disk.code = 'ENOSPC'
  const stored = () =>
    readdirSync(`${directory}/data/items`, { recursive: true }).some((name) => `${name}`.includes('expired'))
  expect(stored()).toBe(true)
  for (let attempt = 0; attempt < 100 && stored(); attempt += 1) {
    // Looking takes longer than a write.
    for (let write = 0; write < 20; write += 1) {
      await messageOf(driver.setItem('new', 'two', { ttl: 60 }))
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  expect(stored()).toBe(false)
})
