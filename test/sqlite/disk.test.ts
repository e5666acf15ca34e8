// A disk that is full or broken makes operations fail completely, and the driver recovers without a restart.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadEngine } from '../../packages/storage-drivers/src/sqlite/engine.ts'
import { type ObservedDriver, observedDriver } from './observed-driver.ts'

let directory: string
let file: string
let observed: ObservedDriver
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'grantry-test-'))
  file = join(directory, 'grantry.db')
  observed = observedDriver(file)
})
afterEach(async () => {
  await observed.driver.dispose()
  rmSync(directory, { recursive: true })
})

const large = 'x'.repeat(100_000)
const item = (key: string, value = '{}') => ({ key, value, ttl: 60 })

test('a full disk writes no part of a commit, and the next one succeeds when there is space', async () => {
  const { driver, perform } = observed
  await driver.setItem('code:1', 'old', { ttl: 60 })
  perform('PRAGMA max_page_count = 12')
  const changes = {
    create: [item('spent:1')],
    put: [item('access:1', large), item('refresh:1')],
    remove: ['code:1'],
  }
  const full = `storage: the disk of ${file} is full (SQLITE_FULL); free some space`
  await expect(driver.commit(changes)).rejects.toThrow(full)
  await expect(driver.setItem('access:2', large, { ttl: 60 })).rejects.toThrow(full)
  const keys = ['spent:1', 'access:1', 'refresh:1', 'code:1']
  expect(await Promise.all(keys.map((key) => driver.getItem(key)))).toEqual([null, null, null, 'old'])
  // A full disk still takes small writes, and what shares their transaction does not matter.
  const outcomes = await Promise.allSettled([
    driver.setItem('access:3', large, { ttl: 60 }),
    driver.insertItem('spent:3', '{}', { ttl: 60 }),
  ])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  perform('PRAGMA max_page_count = 100000')
  expect(await driver.commit(changes)).toBe(true)
  expect(await Promise.all(keys.map((key) => driver.getItem(key)))).toEqual(['{}', large, '{}', null])
})

test('a commit that the disk refuses rejects every write of the turn', async () => {
  const { driver } = observed
  await driver.setItem('code:1', 'old', { ttl: 60 })
  observed.before = (sql) => {
    if (sql === 'COMMIT') throw Object.assign(new Error('disk I/O error'), { rawCode: 1290 })
  }
  const outcomes = await Promise.allSettled([
    driver.setItem('code:1', 'new', { ttl: 60 }),
    driver.insertItem('spent:1', '{}', { ttl: 60 }),
  ])
  const refused = {
    status: 'rejected',
    reason: new Error(`storage: the disk of ${file} reports an error (SQLITE_IOERR); check the disk`),
  }
  expect(outcomes).toEqual([refused, refused])
  observed.before = () => {}
  expect(await driver.getItem('code:1')).toBe('old')
  expect(await driver.insertItem('spent:1', '{}', { ttl: 60 })).toBe(true)
})

test('a write that meets a damaged page does not fail the others of its turn', async () => {
  const { driver } = observed
  await driver.open()
  let isDamaged = true
  observed.before = (sql) => {
    if (sql.startsWith('DELETE') && isDamaged) throw Object.assign(new Error('malformed'), { rawCode: 11 })
  }
  const [set, removed, inserted] = await Promise.allSettled([
    driver.setItem('code:1', 'new', { ttl: 60 }),
    driver.removeItem('code:2'),
    driver.insertItem('spent:1', '{}', { ttl: 60 }),
  ])
  expect(set.status).toBe('fulfilled')
  expect(inserted).toEqual({ status: 'fulfilled', value: true })
  expect(removed).toMatchObject({
    reason: {
      message: `storage: ${file} is damaged (SQLITE_CORRUPT); restore a backup, or repair it with the .recover command of sqlite3`,
    },
  })
  isDamaged = false
  await driver.removeItem('code:2')
  expect(await driver.getItem('code:1')).toBe('new')
})

test('writes that are repeated one by one wait for another process', async () => {
  const { driver } = observed
  await driver.open()
  let begins = 0
  observed.before = (sql) => {
    if (sql.startsWith('DELETE')) throw Object.assign(new Error('malformed'), { rawCode: 11 })
    if (sql === 'BEGIN IMMEDIATE') begins += 1
    if (begins === 2 && sql === 'BEGIN IMMEDIATE') throw Object.assign(new Error('locked'), { rawCode: 5 })
  }
  const outcomes = await Promise.allSettled([
    driver.insertItem('spent:1', '{}', { ttl: 60 }),
    driver.removeItem('code:2'),
    driver.insertItem('spent:1', '{}', { ttl: 60 }),
  ])
  expect(outcomes).toEqual([
    { status: 'fulfilled', value: true },
    { status: 'rejected', reason: expect.any(Error) },
    { status: 'fulfilled', value: false },
  ])
})

// libsql keeps files of a closed connection open: requests that fail would use up the descriptors of the process.
test.each([
  ['a damaged page', 11, 1],
  ['a broken disk', 10, 2],
])('opens the file again at most once for many reads that meet %s', async (_what, rawCode, expected) => {
  const { driver, performed } = observed
  await driver.setItem('code:1', 'kept', { ttl: 60 })
  observed.before = (sql) => {
    if (sql.startsWith('SELECT value') && sql.includes('ends')) throw Object.assign(new Error('failed'), { rawCode })
  }
  for (let read = 0; read < 20; read += 1) await expect(driver.getItem('code:1')).rejects.toThrow('storage: ')
  observed.before = () => {}
  expect(await driver.getItem('code:1')).toBe('kept')
  expect(performed.filter((sql) => sql === 'PRAGMA journal_mode = WAL')).toHaveLength(expected)
})

test('the writes of a turn share a transaction, and reads need none', async () => {
  const { driver, performed } = observed
  await driver.open()
  const before = performed.length
  await Promise.all(Array.from({ length: 50 }, (_, index) => driver.setItem(`key:${index}`, '{}', { ttl: 60 })))
  const statements = performed.slice(before)
  expect(statements.filter((sql) => sql.startsWith('BEGIN'))).toEqual(['BEGIN IMMEDIATE'])
  expect(statements.filter((sql) => sql === 'COMMIT')).toHaveLength(1)
  expect(driver.getItem('key:1')).toBe('{}')
})

test('the log shrinks after another program has read for long', async () => {
  const { driver } = observed
  await driver.setItem('code:1', '{}', { ttl: 60 })
  const reader = loadEngine()(file)
  reader.run('BEGIN')
  reader.all('SELECT count(*) FROM grantry_items')
  for (let round = 0; round < 10; round += 1) {
    // SQLite writes no page again whose content stays the same.
    const value = String(round).repeat(100_000)
    await Promise.all(Array.from({ length: 25 }, (_, n) => driver.setItem(`access:${n}`, value, { ttl: 60 })))
  }
  const size = () => statSync(`${file}-wal`).size
  expect(size()).toBeGreaterThan(20 * 2 ** 20)
  reader.run('ROLLBACK')
  reader.close()
  for (let write = 0; write < 3; write += 1) await driver.setItem('code:1', '{}', { ttl: 60 })
  expect(size()).toBeLessThanOrEqual(16 * 2 ** 20)
})
