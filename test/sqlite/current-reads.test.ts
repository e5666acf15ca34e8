// Reads see what other processes have written, also while a write of their own process waits for the lock.
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { sqliteDriver } from '@grantry/storage-drivers/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { packKey } from '../../packages/storage-drivers/src/sql/item-key.ts'
import { loadEngine } from '../../packages/storage-drivers/src/sqlite/engine.ts'
import { sharedDirectory } from '../support/directory.ts'

const directory = sharedDirectory('sqlite-reads')

test('a read is current while a write waits for another process', async () => {
  const file = join(directory, 'grantry.db')
  const driver = sqliteDriver({ file })
  onTestFinished(() => driver.dispose())
  await driver.open()
  const otherConnection = loadEngine()(file)
  onTestFinished(() => otherConnection.close())

  otherConnection.run('BEGIN IMMEDIATE')
  const writing = driver.setItem('own', 'written', { ttl: 60 })
  // The write has found the file locked.
  await setImmediate()
  await setImmediate()
  expect(driver.getItem('revoked:a')).toBeNull()
  const end = Date.now() + 60_000
  otherConnection.run(
    'INSERT INTO grantry_items (key, value, ends) VALUES (?1, ?2, ?3)',
    packKey('revoked:a'),
    'now',
    end,
  )
  otherConnection.run('COMMIT')
  expect(driver.getItem('revoked:a')).toBe('now')
  await writing
  expect(driver.getItem('own')).toBe('written')
})
