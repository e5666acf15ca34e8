// Several processes on one file: one that is killed, one that does not release its lock, and one that moves the file.
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { type SqliteDriver, sqliteDriver } from '@grantry/storage-drivers/sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { bundleWithPackages } from '../support/bundle-with-packages.ts'
import { randomPause } from '../support/pause.ts'
import { isLong } from '../support/rounds.ts'
import { startProgram } from '../support/start-concurrently.ts'

let programs: Readonly<Record<'victim' | 'lock', string>>
beforeAll(async () => {
  const [victim, lock] = await Promise.all(
    ['victim', 'lock'].map((name) => bundleWithPackages(new URL(`./programs/${name}.ts`, import.meta.url))),
  )
  programs = { victim: victim ?? '', lock: lock ?? '' }
})
afterAll(() => {
  for (const path of Object.values(programs)) rmSync(dirname(path), { recursive: true })
})

let directory: string
let file: string
let driver: SqliteDriver
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'grantry-test-'))
  file = join(directory, 'grantry.db')
  driver = sqliteDriver({ file, operationTimeout: 60 })
})
afterEach(async () => {
  await driver.dispose()
  rmSync(directory, { recursive: true })
})

/** Which parts of a commit of a victim are there. */
async function partsOf(name: string, number: number): Promise<readonly boolean[]> {
  const items = await driver.getItems(
    [`spent:${name}:${number}`, `access:${name}:${number}`, `code:${name}:${number + 1}`].map((key) => ({ key })),
  )
  return items.map(({ value }) => value !== null)
}

test('killed processes lose no completed commit and leave no part of one', async () => {
  for (let round = 0; round < (isLong ? 50 : 3); round += 1) {
    const names = ['one', 'two', 'three'].map((name) => `${name}${round}`)
    const victims = names.map((name) => startProgram(programs.victim, file, name))
    for (const victim of victims) await victim.line()
    for (const victim of victims) while ((await victim.line()) !== '3');
    await randomPause(10)
    for (const { child } of victims) child.kill('SIGKILL')
    for (const [index, victim] of victims.entries()) {
      const name = names[index] ?? ''
      const last = Number((await victim.rest()).at(-1) ?? 3)
      expect(await driver.getItem(`code:${name}:${last}`)).toBeNull()
      const [spent = false, ...others] = await partsOf(name, last + 1)
      // The commit that was in progress: all of it, or nothing.
      expect(others).toEqual([spent, spent])
      expect((await partsOf(name, last)).slice(0, 2)).toEqual([true, true])
      expect(await driver.insertItem(`spent:${name}:${last}`, '{}', { ttl: 60 })).toBe(false)
    }
  }
})

test('a process that keeps the lock makes writes fail, reads continue, and the event loop does not wait', async () => {
  await driver.setItem('code:1', 'old', { ttl: 60 })
  const impatient = sqliteDriver({ file, operationTimeout: 0.3 })
  await impatient.open()
  const lock = startProgram(programs.lock, file)
  expect(await lock.line()).toBe('locked')
  let turns = 0
  let isOver = false
  const write = impatient.setItem('code:1', 'new', { ttl: 60 }).finally(() => {
    isOver = true
  })
  const counting = (async () => {
    for (; !isOver; turns += 1) await setImmediate()
  })()
  await expect(write).rejects.toThrow(`storage: another process is writing to ${file} and does not finish`)
  await counting
  expect(turns).toBeGreaterThan(20)
  expect(await impatient.getItem('code:1')).toBe('old')
  const waiting = driver.insertItem('spent:1', '{}', { ttl: 60 })
  lock.child.kill('SIGKILL')
  expect(await waiting).toBe(true)
  await impatient.setItem('code:1', 'new', { ttl: 60 })
  expect(await driver.getItem('code:1')).toBe('new')
  await lock.rest()
  await impatient.dispose()
})

// Another process would create a new file, in which nothing is spent.
test('a file that is moved away is not used until it is back', async () => {
  await driver.setItem('code:1', 'here', { ttl: 60 })
  const away = `${directory}-away`
  renameSync(directory, away)
  const moved = `storage: ${file} was moved, replaced or removed while it was in use; put it back, or restart this process`
  await expect(driver.insertItem('spent:1', '{}', { ttl: 60 })).rejects.toThrow(moved)
  expect(existsSync(file)).toBe(false)
  renameSync(away, directory)
  expect(await driver.insertItem('spent:1', '{}', { ttl: 60 })).toBe(true)
  expect(await driver.getItem('code:1')).toBe('here')

  renameSync(file, `${file}.old`)
  writeFileSync(file, '', { mode: 0o600 })
  await expect(driver.setItem('code:1', 'lost', { ttl: 60 })).rejects.toThrow(moved)
  renameSync(`${file}.old`, file)
  expect(await driver.getItem('code:1')).toBe('here')
  await driver.setItem('code:1', 'kept', { ttl: 60 })
})

// Otherwise the process would accept a token that another one has revoked, for as long as it is busy.
test('a busy process reads nothing from a file that was replaced by its backup', async () => {
  await driver.setItem('token:1', 'valid', { ttl: 60 })
  await driver.backup(join(directory, 'copy.db'))
  for (const ending of ['', '-wal', '-shm']) renameSync(file + ending, join(directory, `old.db${ending}`))
  renameSync(join(directory, 'copy.db'), file)
  const reopened = sqliteDriver({ file })
  await reopened.removeItem('token:1')
  for (let read = 0; read < 3; read += 1) {
    await expect(driver.getItem('token:1')).rejects.toThrow(`storage: ${file} was moved, replaced or removed`)
  }
  await reopened.dispose()
})

test('a process notices that a symbolic link to the directory of its file was switched', async () => {
  const [old, current] = [join(directory, 'old'), join(directory, 'current')]
  for (const name of [old, `${old}-2`]) mkdirSync(name, { mode: 0o700 })
  symlinkSync(old, current)
  const linked = join(current, 'grantry.db')
  const first = sqliteDriver({ file: linked })
  await first.setItem('code:1', 'here', { ttl: 60 })
  await first.backup(join(`${old}-2`, 'grantry.db'))
  symlinkSync(`${old}-2`, `${current}-2`)
  renameSync(`${current}-2`, current)
  const second = sqliteDriver({ file: linked })
  const spend = { create: [{ key: 'spent:1', value: '{}', ttl: 60 }], put: [], remove: ['code:1'] }
  expect(await second.commit(spend)).toBe(true)
  const moved = `storage: ${linked} was moved, replaced or removed`
  await expect(first.commit(spend)).rejects.toThrow(moved)
  await expect(first.getItem('code:1')).rejects.toThrow(moved)
  await Promise.all([first.dispose(), second.dispose()])
})

test('processes with different settings share the items of one prefix', async () => {
  const quick = sqliteDriver({ file, synchronous: 'normal' })
  const separate = sqliteDriver({ file, prefix: 'other' })
  await driver.setItem('code:1', 'here', { ttl: 60 })
  expect(await quick.insertItem('code:1', 'again', { ttl: 60 })).toBe(false)
  expect(await separate.getItem('code:1')).toBeNull()
  expect(await separate.insertItem('code:1', 'there', { ttl: 60 })).toBe(true)
  await separate.clear()
  expect(await quick.getItem('code:1')).toBe('here')
  await Promise.all([quick.dispose(), separate.dispose()])
})

test('dispose() performs the writes that wait, and later operations are rejected', async () => {
  const disposed = sqliteDriver({ file })
  const writes = ['1', '2', '3'].map((key) => disposed.insertItem(`spent:${key}`, '{}', { ttl: 60 }))
  const disposing = disposed.dispose()
  const late = disposed.setItem('code:1', '{}', { ttl: 60 })
  await expect(late).rejects.toThrow(`storage: ${file} was disposed of`)
  expect(await Promise.all(writes)).toEqual([true, true, true])
  await disposing
  await expect(disposed.getItem('spent:1')).rejects.toThrow(`storage: ${file} was disposed of`)
  await expect(disposed.open()).rejects.toThrow('was disposed of')
  expect(await driver.getItem('spent:3')).toBe('{}')
  await disposed.dispose()
})
