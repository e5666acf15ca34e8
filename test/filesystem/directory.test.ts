// The directory contains live tokens, and its files are swept. So other users must not read it, and it must not contain
// foreign files.
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type FilesystemDriver, filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { bundle } from '../support/bundle.ts'
import { rounds } from '../support/rounds.ts'
import { startConcurrently, startProgram } from '../support/start-concurrently.ts'

const bundles: string[] = []
const bundled = async (name: string): Promise<string> => {
  const outfile = await bundle(new URL(`./programs/${name}.ts`, import.meta.url))
  bundles.push(outfile)
  return outfile
}

let parent: string
let directory: string
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'grantry-test-'))
  directory = join(parent, 'storage')
})
afterEach(async () => {
  for (const driver of drivers.splice(0)) await driver.dispose()
  rmSync(parent, { recursive: true })
})
afterAll(() => {
  for (const outfile of bundles) rmSync(dirname(outfile), { recursive: true })
})

const drivers: FilesystemDriver[] = []
function driverIn(path: string): FilesystemDriver {
  const driver = filesystemDriver({ directory: path })
  drivers.push(driver)
  return driver
}
const open = (path: string): Promise<void> => driverIn(path).open()
const modeOf = (path: string): number => statSync(path).mode & 0o777

describe('open', () => {
  test('creates the directory and its parents with access for this user only', async () => {
    const deep = join(directory, 'of', 'grantry')
    await open(deep)
    expect(modeOf(deep)).toBe(0o700)
    expect(modeOf(directory)).toBe(0o700)
    expect(readFileSync(join(deep, 'format'), 'utf8')).toBe('grantry-storage 1\n')
  })

  test('accepts an empty directory and one that it created', async () => {
    mkdirSync(directory, { mode: 0o700 })
    await open(directory)
    await driverIn(directory).setItem('kept', 'value')
    await open(directory)
    expect(await driverIn(directory).getItem('kept')).toBe('value')
  })

  test('writes everything with access for this user only', async () => {
    const driver = driverIn(directory)
    await driver.insertItem('code:1', 'secret', { ttl: 60 })
    await driver.setItem('code:1', 'other', { ttl: 60 })
    const entries = await readdir(directory, { recursive: true, withFileTypes: true })
    const modes = entries.map((entry) => [entry.isDirectory(), modeOf(join(entry.parentPath, entry.name))])
    expect(modes.filter(([isDirectory]) => !isDirectory)).toHaveLength(2)
    expect(modes.every(([isDirectory, mode]) => mode === (isDirectory ? 0o700 : 0o600))).toBe(true)
  })

  test.each([0o750, 0o701, 0o755, 0o770])('refuses a directory that others can access (%o)', async (mode) => {
    mkdirSync(directory)
    chmodSync(directory, mode)
    await expect(open(directory)).rejects.toThrow(
      `storage: other users of this machine can access ${directory}; run chmod 700 ${directory}`,
    )
    expect(await readdir(directory)).toEqual([])
  })

  test('refuses a directory that others can replace by one of theirs', async () => {
    mkdirSync(directory, { mode: 0o700 })
    chmodSync(parent, 0o777)
    await expect(open(directory)).rejects.toThrow(
      `storage: other users of this machine can write to ${parent}; run chmod o-w`,
    )
    // In a sticky directory they cannot.
    chmodSync(parent, 0o1777)
    await open(directory)
  })

  test('refuses a file', async () => {
    writeFileSync(directory, '')
    await expect(open(directory)).rejects.toThrow(`storage: ${directory} is a file; set a directory`)
  })

  test('refuses a path below a file', async () => {
    writeFileSync(directory, '')
    await expect(open(join(directory, 'below'))).rejects.toThrow(
      `storage: ${directory}/below cannot be used (ENOTDIR); use a directory on a writable local disk, owned by the user of this process`,
    )
  })

  test('refuses a directory that this user cannot write', async () => {
    const otherUser = 65_534
    const isRoot = process.getuid?.() === 0
    mkdirSync(directory)
    if (isRoot) chownSync(directory, otherUser, otherUser)
    chmodSync(directory, 0o500)
    chmodSync(parent, 0o755)
    const program = startProgram(await bundled('unprivileged'), directory, isRoot ? `${otherUser}` : '')
    expect(await program.line()).toBe(
      `storage: ${directory} cannot be used (EACCES); use a directory on a writable local disk, owned by the user of this process`,
    )
    await program.rest()
  })

  test('refuses an existing storage that is no longer writable', async () => {
    const otherUser = 65_534
    const isRoot = process.getuid?.() === 0
    await open(directory)
    for (const path of ['.', 'format', 'items', 'tmp']) {
      if (isRoot) chownSync(join(directory, path), otherUser, otherUser)
    }
    chmodSync(join(directory, 'tmp'), 0o500)
    chmodSync(parent, 0o755)
    const program = startProgram(await bundled('unprivileged'), directory, isRoot ? `${otherUser}` : '')
    expect(await program.line()).toContain(`storage: ${directory} cannot be used (EACCES)`)
    await program.rest()
  })

  // Not an attack: after `sudo grantry revoke`, the server could not read the record.
  test('refuses root in the storage of another user, and leaves no files of root', async () => {
    const isRoot = process.getuid?.() === 0
    await open(directory)
    const otherUser = isRoot ? 65_534 : (process.getuid?.() ?? 0)
    if (isRoot)
      for (const path of ['.', 'format', 'items', 'tmp']) chownSync(join(directory, path), otherUser, otherUser)
    const again = driverIn(directory).insertItem('a:1', '{}', { ttl: 60 })
    if (!isRoot) return expect(await again).toBe(true)
    await expect(again).rejects.toThrow(
      `storage: ${directory} belongs to user ${otherUser}, whose server could not read files written by root; run this as that user (sudo -u '#${otherUser}')`,
    )
    expect(await readdir(join(directory, 'tmp'))).toEqual([])
  })

  test.each([
    ['a file', 'thesis.txt'],
    ['foreign items', 'items'],
    ['a hidden file', '.profile'],
  ])('refuses a directory with %s and changes nothing', async (_what, name) => {
    mkdirSync(directory, { mode: 0o700 })
    writeFileSync(join(directory, name), 'mine')
    await expect(open(directory)).rejects.toThrow(
      `storage: ${directory} contains files that are not Grantry's; set an empty or a new directory`,
    )
    expect(await readdir(directory)).toEqual([name])
  })

  test('refuses another format', async () => {
    await open(directory)
    writeFileSync(join(directory, 'format'), 'grantry-storage 2\n')
    await expect(open(directory)).rejects.toThrow(
      `storage: ${directory} has the format "grantry-storage 2", which this version cannot read; use the version that wrote it, or another directory`,
    )
  })

  test.each(['', 'grantry-st'])('completes the setup that a killed process began (%j)', async (text) => {
    mkdirSync(directory, { mode: 0o700 })
    writeFileSync(join(directory, 'format'), text)
    await open(directory)
    expect(readFileSync(join(directory, 'format'), 'utf8')).toBe('grantry-storage 1\n')
  })

  test('does not treat an empty file `format` beside other files as an unfinished setup', async () => {
    mkdirSync(directory, { mode: 0o700 })
    for (const name of ['format', 'letter.txt']) writeFileSync(join(directory, name), '')
    await expect(open(directory)).rejects.toThrow('not Grantry')
  })

  test('works on a second call after the operator has fixed the problem', async () => {
    mkdirSync(directory)
    chmodSync(directory, 0o755)
    const driver = driverIn(directory)
    await expect(driver.open()).rejects.toThrow('run chmod 700')
    chmodSync(directory, 0o700)
    await driver.open()
    await driver.setItem('key', 'value')
    expect(await driver.getItem('key')).toBe('value')
  })

  test('several processes open a new directory at the same moment', async () => {
    const outfile = await bundled('open')
    for (const round of rounds(4)) {
      const target = join(parent, `round-${round}`)
      const programs = ['a', 'b', 'c', 'd'].map((name) => startProgram(outfile, target, name))
      await startConcurrently(programs)
      expect(await Promise.all(programs.map((program) => program.line()))).toEqual(Array(4).fill('opened'))
      await Promise.all(programs.map((program) => program.rest()))
      expect((await driverIn(target).getKeys()).sort()).toEqual(['a', 'b', 'c', 'd'])
    }
  })
})
