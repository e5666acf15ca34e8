// The driver without open(), from another working directory, or with a missing directory: it returns the stored value
// or rejects.
import { chmodSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FilesystemDriver, filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

let parent: string
let directory: string
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'grantry-test-'))
  directory = join(parent, 'storage')
})
const drivers: FilesystemDriver[] = []
afterEach(async () => {
  for (const driver of drivers.splice(0)) await driver.dispose()
  rmSync(parent, { recursive: true })
})

function driverIn(path: string): FilesystemDriver {
  const driver = filesystemDriver({ directory: path })
  drivers.push(driver)
  return driver
}

test('without open, the first operation prepares the directory and rejects with the same messages', async () => {
  expect(await driverIn(directory).getItem('key')).toBeNull()
  expect(readFileSync(join(directory, 'format'), 'utf8')).toBe('grantry-storage 1\n')
  chmodSync(directory, 0o755)
  const driver = driverIn(directory)
  const options = { ttl: 1 }
  const calls = [
    () => driver.getItem('key'),
    () => driver.hasItem('key'),
    () => driver.setItem('key', 'value'),
    () => driver.insertItem('key', 'value', options),
    () => driver.removeItem('key'),
    () => driver.getKeys(),
    () => driver.getMeta('key'),
    () => driver.clear(),
    () => driver.purge(),
  ]
  for (const call of calls) await expect(call()).rejects.toThrow('run chmod 700')
})

// A revocation that cannot be read must not count as absent.
describe('a directory that disappears', () => {
  const ways: readonly (readonly [string, string, () => void])[] = [
    ['is moved away', 'ENOENT', () => renameSync(directory, join(parent, 'elsewhere'))],
    [
      'cannot be reached',
      'ELOOP',
      () => {
        renameSync(directory, join(parent, 'elsewhere'))
        symlinkSync(directory, directory)
      },
    ],
  ]
  test.each(ways)('makes every operation reject when it %s', async (_what, code, goAway) => {
    const driver = driverIn(directory)
    await driver.insertItem('revoked:1', 'value', { ttl: 60 })
    await driver.dispose()
    goAway()
    for (const key of ['revoked:1', 'revoked:2']) {
      await expect(driver.getItem(key)).rejects.toThrow(code)
      await expect(driver.hasItem(key)).rejects.toThrow(code)
      await expect(driver.getMeta(key)).rejects.toThrow(code)
      await expect(driver.setItem(key, 'value')).rejects.toThrow(code)
      await expect(driver.insertItem(key, 'value', { ttl: 60 })).rejects.toThrow(code)
      await expect(driver.insertItem(key, 'value', { ttl: 0 })).rejects.toThrow(code)
      await expect(driver.removeItem(key)).rejects.toThrow(code)
    }
    await expect(driver.getKeys()).rejects.toThrow(code)
    await expect(driver.purge()).rejects.toThrow(code)
    await expect(driver.clear()).rejects.toThrow(code)
  })

  test('an item that cannot be reached is not absent', async () => {
    const driver = driverIn(directory)
    await driver.setItem('revoked:1', 'value')
    const items = readdirSync(join(directory, 'items'), { recursive: true, encoding: 'utf8' })
    const slot = join(directory, 'items', items.find((path) => path.endsWith('revoked.1')) ?? '')
    rmSync(slot, { recursive: true })
    symlinkSync(slot, slot)
    await expect(driver.getItem('revoked:1')).rejects.toThrow('ELOOP')
    await expect(driver.hasItem('revoked:1')).rejects.toThrow('ELOOP')
    await expect(driver.insertItem('revoked:1', 'value', { ttl: 60 })).rejects.toThrow('ELOOP')
  })
})

test('rejects an empty path, which would be the working directory', () => {
  expect(() => filesystemDriver({ directory: '' })).toThrow(
    'storage: the directory of filesystemDriver is an empty string; set a path',
  )
})

test('a relative directory stays the same when the process changes its working directory', async () => {
  const before = process.cwd()
  try {
    process.chdir(parent)
    const driver = driverIn('storage')
    process.chdir(tmpdir())
    await driver.setItem('key', 'value')
    expect(await driverIn(directory).getItem('key')).toBe('value')
  } finally {
    process.chdir(before)
  }
})
