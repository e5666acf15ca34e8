// Several processes share the directory. Single use of codes and refresh tokens depends on this: exactly one insert
// succeeds.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { type FilesystemDriver, filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { bundle } from '../support/bundle.ts'
import { type Program, startProgram, startTogether } from './programs/filesystem-process.ts'

const bundled = { insert: '', purge: '', overwrite: '' }
beforeAll(async () => {
  for (const name of ['insert', 'purge', 'overwrite'] as const) {
    bundled[name] = await bundle(new URL(`./programs/filesystem-${name}.ts`, import.meta.url))
  }
})
afterAll(() => {
  for (const outfile of Object.values(bundled)) rmSync(dirname(outfile), { recursive: true })
})

let directory: string
let driver: FilesystemDriver
let programs: Program[]
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'grantry-test-'))
  driver = filesystemDriver({ directory, fsync: false })
  programs = []
})
afterEach(async () => {
  for (const { child } of programs) child.kill('SIGKILL')
  await Promise.all(programs.map((program) => program.rest()))
  await driver.dispose()
  rmSync(directory, { recursive: true })
})

function start(outfile: string, ...args: readonly string[]): Program {
  const program = startProgram(outfile, directory, ...args)
  programs.push(program)
  return program
}

const names = ['a', 'b', 'c', 'd']

/** Lets four processes insert the keys 0 to count - 1, and expects one winner per key, whose value is stored. */
async function race(count: number, fsync: string, ...others: readonly Program[]): Promise<void> {
  const racers = names.map((name) => start(bundled.insert, name, `${count}`, fsync))
  await startTogether([...racers])
  const won = await Promise.all(racers.map(async (racer) => JSON.parse(await racer.line()) as number[]))
  for (const other of others) other.go()
  expect(won.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, key) => key))
  for (const [index, name] of names.entries()) {
    for (const key of won[index] ?? []) expect(await driver.getItem(`spent:${key}`)).toBe(name)
  }
}

test.each(['fsync', 'no fsync'])('each key that four processes insert has one winner (%s)', async (fsync) => {
  await race(300, fsync)
})

// The trap of lock files: a process that saw an expired item could remove the item that replaced it.
test.each(['fsync', 'no fsync'])(
  'four processes replace expired items while others sweep, and each winner stays (%s)',
  async (fsync) => {
    const count = 300
    for (let key = 0; key < count; key += 1) await driver.setItem(`spent:${key}`, 'expired', { ttl: 0.001 })
    await setTimeout(5)
    const sweepers = [start(bundled.purge), start(bundled.purge)]
    await Promise.all(sweepers.map((sweeper) => sweeper.line()))
    await race(count, fsync, ...sweepers)
    await Promise.all(sweepers.map((sweeper) => sweeper.line()))
    await driver.purge()
    expect(await driver.getKeys()).toHaveLength(count)
  },
)

test('a reader sees only complete values while two processes overwrite a large one', async () => {
  const size = 100_000
  const writers = [start(bundled.overwrite, `${size}`), start(bundled.overwrite, `${size}`)]
  await Promise.all(writers.map((writer) => writer.line()))
  const seen = new Set<string>()
  let torn = 0
  // Read until the value has changed several times, even with slow writers; otherwise the test would prove nothing.
  for (let read = 0; read < 4000 || (seen.size < 6 && read < 400_000); read += 1) {
    const value = (await driver.getItem('record')) ?? ''
    const first = value.slice(0, 1)
    seen.add(first)
    if (value !== first.repeat(size)) torn += 1
  }
  for (const writer of writers) writer.go()
  expect(torn).toBe(0)
  expect(seen.size).toBeGreaterThan(5)
})
