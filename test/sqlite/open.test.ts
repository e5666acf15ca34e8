// A file that cannot be used is refused with a sentence that says what to do, and is not changed.
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type SqliteDriverOptions, sqliteDriver } from '@grantry/storage-drivers/sqlite'
import Database from 'libsql'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { assertLocalDisk } from '../../packages/storage-drivers/src/sqlite/prepare-file.ts'
import { bundleWithPackages } from '../support/bundle-with-packages.ts'
import { startProgram } from '../support/start-concurrently.ts'

let directory: string
let file: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'grantry-test-'))
  file = join(directory, 'grantry.db')
})
afterEach(() => rmSync(directory, { recursive: true }))

let unprivileged: string
beforeAll(async () => {
  unprivileged = await bundleWithPackages(new URL('./programs/unprivileged.ts', import.meta.url))
})
afterAll(() => rmSync(dirname(unprivileged), { recursive: true }))

async function open(options: Partial<SqliteDriverOptions> = {}): Promise<void> {
  const driver = sqliteDriver({ file, ...options })
  try {
    await driver.open()
  } finally {
    await driver.dispose()
  }
}

/** Performs statements on the file with another program. */
function perform(...statements: readonly string[]): void {
  const database = new Database(file)
  for (const statement of statements) {
    if (statement.startsWith('PRAGMA')) database.prepare(statement).all()
    else database.exec(statement)
  }
  database.close()
}

const modeOf = (path: string): number => statSync(path).mode & 0o777

test('creates the file and its directories with access for this user only', async () => {
  file = join(directory, 'new', 'below', 'grantry.db')
  const driver = sqliteDriver({ file })
  await driver.setItem('code:1', '{}', { ttl: 60 })
  expect([dirname(file), dirname(dirname(file))].map(modeOf)).toEqual([0o700, 0o700])
  expect(['', '-wal', '-shm'].map((ending) => modeOf(file + ending))).toEqual([0o600, 0o600, 0o600])
  await driver.dispose()
})

test.each([
  ['NFS', 0x6969],
  ['SMB', 0xff534d42],
  ['SMB', 0xff534d42 | 0],
])('refuses a file on %s (%d), which several machines can share', (name, type) => {
  expect(() => assertLocalDisk('/mnt/grantry.db', () => type)).toThrow(
    `storage: /mnt/grantry.db is on a network file system (${name}); use a file on a local disk`,
  )
  // ext4, and a runtime that does not know the type.
  for (const fileSystem of [0xef53, undefined]) assertLocalDisk('/mnt/grantry.db', () => fileSystem)
})

describe('refuses', () => {
  test.each<[string, Partial<SqliteDriverOptions>, string]>([
    ['an empty path', { file: '' }, 'file must be the path of a file'],
    ['a database in memory', { file: ':memory:' }, 'file must be the path of a file'],
    ['a URL', { file: 'file:grantry.db?mode=memory' }, 'file must be the path of a file'],
    ['a NUL', { file: 'a\0b' }, 'file must be the path of a file'],
    ['a path that is no text', { file: 1 as never }, 'file must be the path of a file'],
    ['an unknown synchronous', { synchronous: 'off' as never }, 'synchronous must be full or normal'],
    ['a time limit of 0', { operationTimeout: 0 }, 'operationTimeout must be 0.01 to 3600 seconds'],
    [
      'a quote in the prefix',
      { prefix: 'a"b' },
      'prefix must be 1 to 40 lower-case letters, digits and _, and not begin with a digit',
    ],
  ])('%s', (_what, options, message) => {
    expect(() => sqliteDriver({ file, ...options })).toThrow(new TypeError(`sqliteDriver(): ${message}`))
  })

  test('a directory', async () => {
    file = directory
    await expect(open()).rejects.toThrow(`storage: ${directory} is not a file; set the path of a file`)
  })

  test('a path below a file', async () => {
    writeFileSync(file, '')
    await expect(open({ file: join(file, 'below') })).rejects.toThrow(
      `storage: ${file}/below cannot be used (ENOTDIR); use a file on a local disk, in a directory of the user of this process`,
    )
  })

  test.each([0o640, 0o604, 0o666])('a file that others can access (%o)', async (mode) => {
    writeFileSync(file, '')
    chmodSync(file, mode)
    await expect(open()).rejects.toThrow(
      `storage: other users of this machine can access ${file}; run chmod 600 ${file}`,
    )
  })

  test('a directory that others can write to', async () => {
    chmodSync(directory, 0o770)
    await expect(open()).rejects.toThrow(
      `storage: other users of this machine can write to ${directory}; run chmod go-w ${directory}`,
    )
  })

  // Each name would have its own write-ahead log: two processes would not see what the other has spent.
  test('a file with two names', async () => {
    await open()
    linkSync(file, join(directory, 'other.db'))
    await expect(open({ file: join(directory, 'other.db') })).rejects.toThrow('has 2 names (hard links)')
    await expect(open()).rejects.toThrow(`${file} has 2 names (hard links); remove the others, or set another file`)
  })

  test('a symbolic link to nothing', async () => {
    symlinkSync(join(directory, 'absent.db'), file)
    await expect(open()).rejects.toThrow(`storage: ${file} is a symbolic link to a file that does not exist; remove it`)
  })

  test('a file that is no database, and leaves it as it is', async () => {
    writeFileSync(file, 'My thesis. '.repeat(1000), { mode: 0o600 })
    await expect(open()).rejects.toThrow(`storage: ${file} is not a SQLite database (SQLITE_NOTADB); set another file`)
    expect(readFileSync(file, 'utf8')).toBe('My thesis. '.repeat(1000))
  })

  test('a damaged database', async () => {
    await open()
    perform('PRAGMA wal_checkpoint(TRUNCATE)')
    const bytes = readFileSync(file)
    bytes.fill(0xff, 100, 4096)
    writeFileSync(file, bytes)
    await expect(open()).rejects.toThrow(
      `storage: ${file} is damaged (SQLITE_CORRUPT); restore a backup, or repair it with the .recover command of sqlite3`,
    )
  })

  test('a table of a newer version', async () => {
    await open()
    perform(`UPDATE grantry_items SET value = '2' WHERE key = x''`)
    await expect(open()).rejects.toThrow(
      `storage: the table grantry_items of ${file} has version 2, and this version of Grantry supports version 1; use the version that wrote it, or another file`,
    )
  })

  test.each([
    ['with other columns', 'CREATE TABLE grantry_items (id INTEGER, name TEXT)'],
    ['without a version', 'CREATE TABLE grantry_items (key BLOB PRIMARY KEY, value, ends INTEGER)'],
  ])("a table that is not Grantry's, %s", async (_what, statement) => {
    writeFileSync(file, '', { mode: 0o600 })
    perform(statement)
    await expect(open()).rejects.toThrow(
      `storage: the table grantry_items of ${file} is not Grantry's; set another prefix or another file`,
    )
    await open({ prefix: 'other' })
  })

  test.each([
    ['a file', 0o400, 0o700],
    ['a file in a directory', 0o600, 0o500],
  ])('%s that this user cannot write', async (_what, fileMode, directoryMode) => {
    await open()
    const isRoot = process.getuid?.() === 0
    const paths = [directory, ...readdirSync(directory).map((name) => join(directory, name))]
    if (isRoot) for (const path of paths) chownSync(path, 65_534, 65_534)
    chmodSync(file, fileMode)
    chmodSync(directory, directoryMode)
    const program = startProgram(unprivileged, file, isRoot ? '65534' : '')
    expect(await program.line()).toMatch(
      /^storage: .* cannot be accessed \(EACCES\); make the user of this process its owner$/u,
    )
    await program.rest()
    chmodSync(directory, 0o700)
  })
})

test('a symbolic link leads to the same items as the file', async () => {
  const link = join(directory, 'link.db')
  symlinkSync(file, link)
  rmSync(link)
  const driver = sqliteDriver({ file })
  await driver.setItem('code:1', 'here', { ttl: 60 })
  symlinkSync(file, link)
  const linked = sqliteDriver({ file: link })
  expect(await linked.getItem('code:1')).toBe('here')
  expect(await linked.insertItem('code:1', 'again', { ttl: 60 })).toBe(false)
  await linked.removeItem('code:1')
  expect(await driver.getItem('code:1')).toBeNull()
  await Promise.all([driver.dispose(), linked.dispose()])
})

test('a database with tables of an application, in UTF-16, keeps them and stores items', async () => {
  writeFileSync(file, '', { mode: 0o600 })
  perform(`PRAGMA encoding = 'UTF-16le'`, 'CREATE TABLE notes (text)', `INSERT INTO notes VALUES ('mine')`)
  const driver = sqliteDriver({ file })
  await driver.setItem('code:é€😀', 'é€😀', { ttl: 60 })
  expect(await driver.getItem('code:é€😀')).toBe('é€😀')
  expect(await driver.incrementItem('count:1', { ttl: 60 })).toBe(1)
  expect(await driver.incrementItem('count:1', { ttl: 60 })).toBe(2)
  await driver.clear()
  await driver.dispose()
  const database = new Database(file)
  expect(database.prepare('SELECT text FROM notes').all()).toEqual([{ text: 'mine' }])
  database.close()
})
