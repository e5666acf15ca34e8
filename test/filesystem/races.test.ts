// Several processes share the directory. Single use of codes and refresh tokens depends on this: exactly one insert
// succeeds. Races without sweeps are in the conformance kit.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type FilesystemDriver, filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { bundle } from '../support/bundle.ts'
import { until } from '../support/eventually.ts'
import { isLong } from '../support/rounds.ts'
import { type Program, startProgram } from '../support/start-concurrently.ts'

const bundled = { insert: '', purge: '' }
beforeAll(async () => {
  const bundledOf = (name: string) => bundle(new URL(`./programs/${name}.ts`, import.meta.url))
  ;[bundled.insert, bundled.purge] = await Promise.all([bundledOf('insert'), bundledOf('purge')])
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

// The trap of lock files: a process that saw an expired item could remove the item that replaced it.
test('four processes replace expired items while others sweep, and each winner stays', async () => {
  const count = isLong ? 1000 : 100
  for (let key = 0; key < count; key += 1) await driver.setItem(`spent:${key}`, 'expired', { ttl: 0.001 })
  await until('the last item has expired', async () => (await driver.getItem(`spent:${count - 1}`)) === null)
  const racers = names.map((name) => start(bundled.insert, name, `${count}`))
  const sweepers = [start(bundled.purge), start(bundled.purge)]
  await Promise.all([...sweepers, ...racers].map((program) => program.line()))
  for (const sweeper of sweepers) sweeper.child.stdin?.write('sweep\n')
  for (const racer of racers) racer.go()
  const won = await Promise.all(racers.map(async (racer) => JSON.parse(await racer.line()) as number[]))
  for (const sweeper of sweepers) sweeper.go()
  await Promise.all(sweepers.map((sweeper) => sweeper.line()))
  expect(won.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, key) => key))
  for (const [index, name] of names.entries()) {
    for (const key of won[index] ?? []) expect(await driver.getItem(`spent:${key}`)).toBe(name)
  }
  await driver.purge()
  expect(await driver.getKeys()).toHaveLength(count)
})
