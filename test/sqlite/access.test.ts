// Who can replace the file, or the log that SQLite recovers writes from, makes tokens of his own.
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteDriver } from '@grantry/storage-drivers/sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const otherUid = 65_534

let directory: string
let file: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'grantry-test-'))
  file = join(directory, 'grantry.db')
})
afterEach(() => rmSync(directory, { recursive: true }))

async function open(path = file): Promise<void> {
  const driver = sqliteDriver({ file: path })
  try {
    await driver.setItem('code:1', '{}', { ttl: 60 })
  } finally {
    await driver.dispose()
  }
}

const canWrite = (path: string, who = 'go') =>
  `storage: other users of this machine can write to ${path}; run chmod ${who}-w ${path}`
const belongsToOther = (path: string) =>
  `storage: ${path} belongs to another user (${otherUid}); make the user of this process its owner`

test('refuses a sticky directory that others can write to, and creates nothing in it', async () => {
  chmodSync(directory, 0o1777)
  await expect(open()).rejects.toThrow(canWrite(directory))
  expect(existsSync(file)).toBe(false)
})

test('refuses a private directory in one that all users can write to, unless that is sticky', async () => {
  const shared = join(directory, 'shared')
  mkdirSync(join(shared, 'mine'), { recursive: true, mode: 0o700 })
  chmodSync(shared, 0o777)
  await expect(open(join(shared, 'mine', 'grantry.db'))).rejects.toThrow(canWrite(shared, 'o'))
  // A volume that a group can write to is usual in containers.
  for (const mode of [0o1777, 0o770]) {
    chmodSync(shared, mode)
    await open(join(shared, 'mine', 'grantry.db'))
  }
})

test('refuses a path through a symbolic link that others can replace', async () => {
  const shared = join(directory, 'shared')
  for (const name of [shared, join(directory, 'mine')]) mkdirSync(name, { mode: 0o700 })
  symlinkSync(join(directory, 'mine'), join(shared, 'link'))
  chmodSync(shared, 0o777)
  await expect(open(join(shared, 'link', 'grantry.db'))).rejects.toThrow(canWrite(shared, 'o'))
})

test.each(['-wal', '-shm', '-journal'])('refuses a %s that others can write to, or that is none', async (ending) => {
  await open()
  copyFileSync(file, file + ending)
  chmodSync(file + ending, 0o666)
  await expect(open()).rejects.toThrow(`other users of this machine can access ${file}${ending}`)
  rmSync(file + ending)
  symlinkSync(join(directory, 'elsewhere'), file + ending)
  await expect(open()).rejects.toThrow(`storage: ${file}${ending} is not a file; remove it`)
})

test('refuses to write a backup into a directory that others can write to, and leaves nothing in it', async () => {
  await open()
  const shared = join(directory, 'shared')
  mkdirSync(shared)
  const driver = sqliteDriver({ file })
  for (const mode of [0o777, 0o1777, 0o770]) {
    chmodSync(shared, mode)
    await expect(driver.backup(join(shared, 'backup.db'))).rejects.toThrow(
      `storage: the backup to ${shared}/backup.db has failed: other users of this machine can write to ${shared}; run`,
    )
  }
  expect(readdirSync(shared)).toEqual([])
  chmodSync(shared, 0o700)
  await driver.backup(join(shared, 'backup.db'))
  await driver.dispose()
})

describe.runIf(process.getuid?.() === 0)('as root', () => {
  test('refuses what belongs to another user', async () => {
    await open()
    // The project of the user who started a container is such a parent.
    const writable = join(directory, 'theirs', 'own')
    mkdirSync(writable, { recursive: true, mode: 0o700 })
    chownSync(join(directory, 'theirs'), otherUid, otherUid)
    await open(join(writable, 'grantry.db'))
    copyFileSync(file, `${file}-wal`)
    for (const path of [`${file}-wal`, file, directory]) {
      chmodSync(path, path === directory ? 0o755 : 0o600)
      chownSync(path, otherUid, otherUid)
      await expect(open()).rejects.toThrow(belongsToOther(path))
    }
  })

  test('refuses to write a backup into a directory of another user', async () => {
    const theirs = join(directory, 'theirs')
    mkdirSync(theirs, { mode: 0o755 })
    chownSync(theirs, otherUid, otherUid)
    const driver = sqliteDriver({ file })
    await expect(driver.backup(join(theirs, 'backup.db'))).rejects.toThrow(
      `has failed: ${theirs} belongs to another user (${otherUid}); make the user of this process its owner`,
    )
    expect(readdirSync(theirs)).toEqual([])
    await driver.dispose()
  })
})
