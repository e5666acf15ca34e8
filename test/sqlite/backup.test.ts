// A backup has all items of one moment, while processes write.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type SqliteDriver, sqliteDriver } from '@grantry/storage-drivers/sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { observedDriver } from './observed-driver.ts'

let directory: string
let driver: SqliteDriver
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'grantry-test-'))
  driver = sqliteDriver({ file: join(directory, 'grantry.db') })
})
afterEach(async () => {
  await driver.dispose()
  rmSync(directory, { recursive: true })
})

test('can be used in place of the file, and has complete commits only', async () => {
  const writer = sqliteDriver({ file: join(directory, 'grantry.db') })
  const item = (key: string) => ({ key, value: 'x'.repeat(500), ttl: 600 })
  const commit = (number: number) =>
    writer.commit({ create: [item(`spent:${number}`)], put: [item(`access:${number}`)], remove: [] })
  for (let number = 0; number < 50; number += 1) await commit(number)
  const later = Promise.all(Array.from({ length: 50 }, (_, number) => commit(50 + number)))
  const backup = join(directory, "it's a backup.db")
  await driver.backup(backup)
  await later
  await writer.dispose()

  expect(statSync(backup).mode & 0o777).toBe(0o600)
  expect(readdirSync(directory).filter((name) => name.includes('partial'))).toEqual([])
  const restored = sqliteDriver({ file: backup })
  const keys = await restored.getKeys()
  expect(keys.filter((key) => key.startsWith('spent:')).length).toBeGreaterThanOrEqual(50)
  for (const key of keys) expect(keys).toContain(key.replace('spent:', 'access:'))
  expect(await restored.insertItem('spent:7', '{}', { ttl: 60 })).toBe(false)
  await restored.dispose()
})

test('never replaces a file, and leaves nothing behind when it fails', async () => {
  await driver.setItem('code:1', '{}', { ttl: 60 })
  const file = join(directory, 'mine.txt')
  writeFileSync(file, 'mine')
  await expect(driver.backup(file)).rejects.toThrow(`storage: ${file} exists; name a new file for the backup`)
  const unreachable = join(directory, 'absent', 'backup.db')
  await expect(driver.backup(unreachable)).rejects.toThrow(`storage: the backup to ${unreachable} has failed: ENOENT`)
  expect(readdirSync(directory).filter((name) => !name.startsWith('grantry.db'))).toEqual(['mine.txt'])
  expect(await driver.getItem('code:1')).toBe('{}')
})

test('does not replace a file that appears while it copies', async () => {
  const file = join(directory, 'backup.db')
  const observed = observedDriver(join(directory, 'grantry.db'))
  observed.before = (sql) => {
    if (sql.startsWith('VACUUM')) writeFileSync(file, 'of another process')
  }
  await expect(observed.driver.backup(file)).rejects.toThrow(/EEXIST/u)
  expect(readFileSync(file, 'utf8')).toBe('of another process')
  expect(readdirSync(directory).filter((name) => name.includes('partial'))).toEqual([])
  await observed.driver.dispose()
})
