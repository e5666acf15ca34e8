import {
  accessSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { currentUser } from '../deno-permissions.ts'
import { assertParents } from '../sqlite/access.ts'
import { storageError } from '../storage-error.ts'
import { explainDiskError } from './disk-errors.ts'
import { errorCode, ignoringErrors } from './ignore-errors.ts'
import { type StoreDirectory, shardNames } from './store-directory.ts'

const currentFormat = 'grantry-storage 1\n'
const ownNames: readonly string[] = ['format', 'items', 'tmp']

/** Errors of the disk: another directory on it would fail too. */
const storageCodes: readonly string[] = ['ENOSPC', 'EDQUOT', 'EROFS']

/**
 * @returns the first directory that was created. Does not use `recursive`: where none can be created (below /proc),
 * Node.js loops endlessly.
 */
function createDirectories(directory: string): string {
  const parent = dirname(directory)
  // A missing Windows drive has no parent.
  const hasParent = parent === directory || statSync(parent, { throwIfNoEntry: false }) !== undefined
  const first = hasParent ? directory : createDirectories(parent)
  // Another process may create it at the same time.
  ignoringErrors(['EEXIST'], () => mkdirSync(directory, { mode: 0o700 }))
  return first
}

/** @returns the first directory that was created, or `undefined` when all existed. */
function createDirectory(directory: string): string | undefined {
  const there = statSync(directory, { throwIfNoEntry: false })
  if (there === undefined) return createDirectories(directory)
  if (!there.isDirectory()) throw storageError(`${directory} is a file; set a directory`)
  // Windows has no permission bits.
  if (process.platform !== 'win32' && (there.mode & 0o077) !== 0) {
    throw storageError(`other users of this machine can access ${directory}; run chmod 700 ${directory}`)
  }
  return undefined
}

/**
 * Files that root writes (with an operator's command) are unreadable for a server that runs as another user; its
 * requests would fail. The user that wrote `format` counts as the owner, not that of the directory: in a container,
 * root may use a directory owned by a user of the host.
 */
function assertOwnUser({ directory, format }: StoreDirectory): void {
  if (currentUser() !== 0) return
  const { uid } = statSync(format)
  if (uid === 0) return
  throw storageError(
    `${directory} belongs to user ${uid}, whose server could not read files written by root; run this as that user (sudo -u '#${uid}')`,
  )
}

/**
 * Marks the directory as Grantry's, or rejects it: sweeps delete files in `items` and `tmp`, so these must be
 * Grantry's.
 */
function claimDirectory({ directory, format }: StoreDirectory): void {
  const names = readdirSync(directory)
  const text = names.includes('format') ? readFileSync(format, 'utf8') : ''
  if (text === currentFormat) return
  if (!currentFormat.startsWith(text)) {
    throw storageError(
      `${directory} has the format ${JSON.stringify(text.slice(0, 40).trim())}, which this version cannot read; use the version that wrote it, or another directory`,
    )
  }
  // Absent or incomplete: another process runs this code now, or was killed here. All write the same bytes, so their
  // order does not matter. The file is written before all others.
  if (!names.every((name) => ownNames.includes(name)) || (names.length > 0 && !names.includes('format'))) {
    throw storageError(`${directory} contains files that are not Grantry's; set an empty or a new directory`)
  }
  const descriptor = openSync(format, constants.O_WRONLY | constants.O_CREAT, 0o600)
  try {
    writeSync(descriptor, currentFormat, 0)
  } finally {
    closeSync(descriptor)
  }
}

function createSubdirectories({ directory, items, tmp }: StoreDirectory): void {
  for (const path of [items, tmp]) mkdirSync(path, { recursive: true, mode: 0o700 })
  const there = new Set(readdirSync(items))
  for (const name of shardNames) {
    // `recursive` only because another process may create it at the same time.
    if (!there.has(name)) mkdirSync(`${items}/${name}`, { recursive: true, mode: 0o700 })
  }
  for (const path of [directory, items, tmp]) accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
}

async function flushNames(
  { flush, directory, format, items }: StoreDirectory,
  first: string | undefined,
): Promise<void> {
  await flush.file(format)
  await flush.directory(items)
  await flush.directory(directory)
  for (let path = directory; first !== undefined; path = dirname(path)) {
    await flush.directory(dirname(path))
    if (path === first) return
  }
}

/**
 * Creates what is missing in the directory. Several processes can run it at the same time.
 *
 * @throws Error that says what is wrong and what to do.
 */
export async function prepareDirectory(store: StoreDirectory): Promise<void> {
  try {
    const first = createDirectory(store.directory)
    assertParents(store.directory)
    claimDirectory(store)
    assertOwnUser(store)
    createSubdirectories(store)
    await flushNames(store, first)
  } catch (error) {
    const code = errorCode(error)
    if (code === undefined) throw error
    if (storageCodes.includes(code)) throw storageError(explainDiskError(error, store.directory) ?? code, error)
    throw storageError(
      `${store.directory} cannot be used (${code}); use a directory on a writable local disk, owned by the user of this process`,
      error,
    )
  }
}
