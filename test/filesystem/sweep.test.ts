// Without sweeps, the directory grows until the disk is full. A sweep that does too much in one step delays every
// request.
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { type FilesystemDriver, filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

const looks = vi.hoisted(() => ({ slots: 0 }))

vi.mock('node:fs', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs')>()
  const readdir = (path: string, ...more: readonly []) => {
    looks.slots += 1
    return fs.readdirSync(path, ...more)
  }
  return { ...fs, readdirSync: readdir }
})
// Test files share the modules of their process: this one and the next load the readers of `node:fs` again.
vi.hoisted(() => vi.resetModules())
afterAll(() => void vi.resetModules())

let directory: string
let items: string
let drivers: FilesystemDriver[]
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
  directory = mkdtempSync(join(tmpdir(), 'grantry-test-'))
  items = join(directory, 'items')
  drivers = []
})
afterEach(async () => {
  vi.useRealTimers()
  for (const driver of drivers) await driver.dispose()
  rmSync(directory, { recursive: true })
})

function open(): FilesystemDriver {
  const driver = filesystemDriver({ directory, fsync: false })
  drivers.push(driver)
  return driver
}

const advance = (seconds: number): void => {
  vi.setSystemTime(Date.now() + seconds * 1000)
}
const slots = (): string[] =>
  readdirSync(items).flatMap((fan) => readdirSync(join(items, fan)).map((slot) => join(items, fan, slot)))

/** Fills the directory without sweeping it. */
async function fill(count: number, ttl: number): Promise<void> {
  const driver = open()
  await driver.open()
  await driver.dispose()
  for (let key = 0; key < count; key += 1) await driver.setItem(`filled:${key}`, 'value', { ttl })
}

/** Writes one item and waits until its sweep step has ended. */
async function writeAndWait(driver: FilesystemDriver): Promise<void> {
  await driver.setItem('written', 'value', { ttl: 86_400 })
  // More turns than one write can trigger.
  for (let turn = 0; turn < 8; turn += 1) await setImmediate()
}

describe('later writes', () => {
  test('remove expired items and nothing else', async () => {
    await fill(100, 60)
    const driver = open()
    await driver.setItem('stays', 'value', { ttl: 86_400 })
    await driver.setItem('stays forever', 'value')
    advance(60)
    // Each write covers one directory or four slots, and the sweep may start in the middle of a round.
    for (let write = 0; write < 2 * (257 + 100 / 4) && (write % 25 > 0 || slots().length > 3); write += 1) {
      await writeAndWait(driver)
    }
    expect(slots()).toHaveLength(3)
    expect((await driver.getKeys()).sort()).toEqual(['stays', 'stays forever', 'written'])
  })

  test('keep the share of expired items small while new items are added', async () => {
    const driver = open()
    let most = 0
    for (let second = 0; second < 40; second += 1) {
      for (let write = 0; write < 50; write += 1) {
        await driver.insertItem(`${second}:${write}`, 'value', { ttl: 5 })
        await setImmediate()
      }
      advance(1)
      if (second % 5 === 4) most = Math.max(most, slots().length)
    }
    // 250 of the 2000 items are live at a time. A full round, about 400 writes, removes the expired ones.
    expect(most).toBeLessThan(700)
  })

  test('remove empty slots and leftovers of killed processes', async () => {
    const driver = open()
    await driver.setItem('key', 'value')
    await driver.removeItem('key')
    await driver.setItem('other', 'value')
    const [slot = ''] = slots()
    mkdirSync(join(slot, '..', 'empty'))
    mkdirSync(join(directory, 'tmp', 'left'))
    advance(3601)
    for (
      let write = 0;
      write < 2 * 257 && (write % 25 > 0 || slots().length + readdirSync(join(directory, 'tmp')).length > 2);
      write += 1
    ) {
      await writeAndWait(driver)
    }
    expect(
      slots()
        .map((path) => path.split('/').at(-1))
        .sort(),
    ).toEqual(['other', 'written'])
    expect(readdirSync(join(directory, 'tmp'))).toEqual([])
  })

  test('keep a draft that is younger than an hour', async () => {
    const driver = open()
    await driver.open()
    mkdirSync(join(directory, 'tmp', 'young'))
    advance(3500)
    for (let write = 0; write < 2 * 257; write += 1) await writeAndWait(driver)
    expect(readdirSync(join(directory, 'tmp'))).toEqual(['young'])
  })

  test('each sweep at most four slots', async () => {
    // About four expired items per directory.
    await fill(1000, 60)
    advance(60)
    const driver = open()
    await writeAndWait(driver)
    let before = slots().length
    for (let write = 0; write < 20; write += 1) {
      await writeAndWait(driver)
      const after = slots().length
      expect(before - after).toBeLessThanOrEqual(4)
      before = after
    }
    expect(before).toBeLessThan(1000)
  })

  test('share one sweep that yields after every few slots', async () => {
    await fill(300, 60)
    advance(60)
    const driver = open()
    await driver.open()
    await Promise.all(Array.from({ length: 300 }, (_, key) => driver.setItem(`${key}`, 'value', { ttl: 86_400 })))
    let most = 0
    for (let quiet = 0; quiet < 10; ) {
      looks.slots = 0
      await setImmediate()
      most = Math.max(most, looks.slots)
      quiet = looks.slots === 0 ? quiet + 1 : 0
    }
    expect(most).toBeGreaterThan(4)
    expect(most).toBeLessThanOrEqual(32)
    expect(slots().length).toBeLessThan(600)
  })
})

test('purge removes all expired items and returns their number', async () => {
  await fill(60, 60)
  const driver = open()
  await driver.setItem('stays', 'value', { ttl: 61 })
  advance(60)
  expect(await driver.purge()).toBe(60)
  expect(await driver.purge()).toBe(0)
  expect(await driver.getKeys()).toEqual(['stays'])
  expect(slots()).toHaveLength(1)
})

test.each(['purge', 'getKeys', 'clear'] as const)('%s yields after every few slots', async (operation) => {
  const driver = open()
  await driver.open()
  // Empty slots, all in one directory.
  for (let slot = 0; slot < 200; slot += 1) mkdirSync(join(items, '00', `${slot}`))
  looks.slots = 0
  let done = false
  let most = 0
  const watching = (async () => {
    for (; !done; await setImmediate()) {
      most = Math.max(most, looks.slots)
      looks.slots = 0
    }
  })()
  await driver[operation]()
  done = true
  await watching
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThanOrEqual(64)
})

test('two concurrent purges count each item once', async () => {
  await fill(60, 60)
  advance(60)
  const counts = await Promise.all([open().purge(), open().purge()])
  expect((counts[0] ?? 0) + (counts[1] ?? 0)).toBe(60)
})

test('a failed sweep step fails no write, warns once per error code, and does not stop the sweep', async () => {
  await fill(100, 60)
  const kept = slots().slice(0, 3)
  for (const slot of kept) {
    const [name = ''] = readdirSync(slot)
    renameSync(join(slot, name), join(directory, 'moved'))
    // Even root cannot unlink a directory where a file should be.
    mkdirSync(join(slot, name))
    rmSync(join(directory, 'moved'))
  }
  advance(60)
  const warn = vi.spyOn(process, 'emitWarning').mockReturnValue()
  const driver = open()
  for (let write = 0; write < 2 * (257 + 100 / 4); write += 1) await writeAndWait(driver)
  expect(slots()).toHaveLength(kept.length + 1)
  expect(warn.mock.calls).toEqual([
    [
      expect.stringMatching(
        /^Cannot remove expired items in .*; they stay until this is fixed: Error: (?:EISDIR|EPERM)/,
      ),
      { type: 'GrantryWarning', code: expect.stringMatching(/^(?:EISDIR|EPERM)$/) },
    ],
  ])
  warn.mockRestore()
})

test('dispose waits for the running step and stops the sweep', async () => {
  await fill(300, 60)
  advance(60)
  const driver = open()
  await driver.open()
  await Promise.all(Array.from({ length: 200 }, () => driver.setItem('written', 'value', { ttl: 86_400 })))
  await setImmediate()
  await driver.dispose()
  const left = slots().length
  expect(left).toBeGreaterThan(1)
  for (let write = 0; write < 50; write += 1) await writeAndWait(driver)
  expect(slots()).toHaveLength(left)
})
