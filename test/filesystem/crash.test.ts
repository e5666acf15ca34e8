// A process can be killed at any time. Completed writes stay, others are stored completely or not at all, and leftovers
// are invisible.
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type FilesystemDriver, filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { bundle } from '../support/bundle.ts'
import { randomPause } from '../support/pause.ts'
import { isLong } from '../support/rounds.ts'
import { startProgram } from '../support/start-concurrently.ts'

let victimProgram: string
beforeAll(async () => {
  victimProgram = await bundle(new URL('./programs/victim.ts', import.meta.url))
})
afterAll(() => {
  rmSync(dirname(victimProgram), { recursive: true })
})

let directory: string
let tmp: string
let driver: FilesystemDriver
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'grantry-test-'))
  tmp = join(directory, 'tmp')
  driver = filesystemDriver({ directory, fsync: false })
})
afterEach(async () => {
  await driver.dispose()
  rmSync(directory, { recursive: true })
})

const twoHoursAgo = (): Date => new Date(Date.now() - 7_200_000)
/** Returns the paths of all item files, relative to the items directory. */
const files = (): string[] =>
  readdirSync(join(directory, 'items'), { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.split('/').length === 3,
  )

test.each(['fsync', 'no fsync'])(
  'a killed writer loses no completed write and leaves no partial value (%s)',
  async (fsync) => {
    /** The last number written to each key by a completed operation; `-` after a removal. */
    const answered = new Map<string, string>()
    let first = 0
    for (let round = 0; round < (isLong ? 100 : 4); round += 1) {
      const victim = startProgram(victimProgram, directory, fsync, `${first}`)
      await victim.line()
      const done: string[] = []
      while (done.length < 4) done.push(await victim.line())
      await randomPause(10)
      victim.child.kill('SIGKILL')
      done.push(...(await victim.rest()))
      for (const line of done) {
        const [key = '', number = ''] = line.split(' ')
        answered.set(key, number)
      }
      // One operation was in progress when the process was killed: both states of its key are valid.
      const under = first + done.length
      for (let key = 0; key < 7; key += 1) {
        const value = await driver.getItem(`key:${key}`)
        const number = value?.slice(0, value.indexOf(':')) ?? '-'
        if (value !== null) expect(value).toBe(`${number}:`.repeat(500))
        if (number !== (answered.get(`key:${key}`) ?? '-')) {
          expect(key).toBe(under % 7)
          expect(number).toBe(under % 5 === 4 ? '-' : `${under}`)
          answered.set(`key:${key}`, number)
        }
      }
      first = under + 1
    }
    for (const name of readdirSync(tmp)) utimesSync(join(tmp, name), twoHoursAgo(), twoHoursAgo())
    await driver.purge()
    expect(readdirSync(tmp)).toEqual([])
    expect(files()).toHaveLength([...answered.values()].filter((number) => number !== '-').length)
  },
)

test('leftovers in tmp are not items, and are swept after an hour', async () => {
  await driver.setItem('key', 'value')
  for (const name of ['late', 'early']) {
    mkdirSync(join(tmp, name))
    for (const file of files()) copyFileSync(join(directory, 'items', file), join(tmp, name, file.split('/')[2] ?? ''))
  }
  mkdirSync(join(tmp, 'early-and-empty'))
  for (const name of ['early', 'early-and-empty']) utimesSync(join(tmp, name), twoHoursAgo(), twoHoursAgo())
  expect(await driver.getKeys()).toEqual(['key'])
  expect(await driver.purge()).toBe(0)
  expect(readdirSync(tmp)).toEqual(['late'])
  expect(readdirSync(join(tmp, 'late'))).toHaveLength(1)
})
