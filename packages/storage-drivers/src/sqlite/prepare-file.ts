import * as fs from 'node:fs'
import { accessSync, closeSync, constants, lstatSync, mkdirSync, openSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { explainDiskError } from '../filesystem/disk-errors.ts'
import { errorCode, ignoringErrors } from '../filesystem/ignore-errors.ts'
import { storageError } from '../storage-error.ts'
import { assertPrivateDirectory, assertPrivateFiles } from './access.ts'

/** The file behind a path. Another file at the same path is another database. */
export interface FileIdentity {
  /** Without symbolic links, so that all processes use the same files beside it. */
  readonly path: string
  /** As it was configured: a symbolic link in it can be switched to another file. */
  readonly configured: string
  readonly device: number
  readonly inode: number
}

/** Creates the directory of the file, and its parents, for this user only. */
function createDirectory(directory: string): void {
  if (statSync(directory, { throwIfNoEntry: false }) !== undefined) return
  const parent = dirname(directory)
  // Without `recursive`: where none can be created (below /proc), Node.js loops endlessly.
  if (parent !== directory) createDirectory(parent)
  ignoringErrors(['EEXIST'], () => mkdirSync(directory, { mode: 0o700 }))
}

/** Never opens a file that exists: closing it would release the locks that SQLite has on it in this process. */
function createFile(file: string): void {
  if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) return
  ignoringErrors(['EEXIST'], () => closeSync(openSync(file, 'wx', 0o600)))
}

/** The types of file systems that several machines share, as Linux numbers them. */
const networkFileSystems: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'SMB'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
])

// Deno would require an extra permission, and not every version of Bun has the function.
const typeOfFileSystem = (path: string): number | undefined =>
  'Deno' in globalThis ? undefined : fs.statfsSync?.(path).type

/**
 * On a network file system, processes of two machines do not see each other's locks and memory, so that both could
 * redeem a code, and damage the file. SQLite does not notice.
 *
 * @param typeOf returns the type of the file system, if it is known
 * @throws Error that says what to do
 */
export function assertLocalDisk(path: string, typeOf = typeOfFileSystem): void {
  const type = typeOf(path)
  const name = type === undefined ? undefined : networkFileSystems.get(type >>> 0)
  if (name === undefined) return
  throw storageError(
    `${path} is on a network file system (${name}); use a file on a local disk, or PostgreSQL or Redis`,
  )
}

function prepare(file: string, creates: boolean): FileIdentity {
  if (creates) {
    createDirectory(dirname(file))
    assertPrivateDirectory(dirname(file))
    createFile(file)
  }
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats === undefined && !creates) throw movedError(file)
  if (stats === undefined) throw storageError(`${file} is a symbolic link to a file that does not exist; remove it`)
  if (!stats.isFile()) throw storageError(`${file} is not a file; set the path of a file`)
  const path = realpathSync(file)
  assertLocalDisk(path)
  for (const directory of new Set([dirname(file), dirname(path)])) assertPrivateDirectory(directory)
  assertPrivateFiles(path, stats)
  // SQLite would open it for reading only.
  for (const needed of [path, dirname(path)]) accessSync(needed, constants.R_OK | constants.W_OK)
  return { path, configured: file, device: stats.dev, inode: stats.ino }
}

/**
 * Creates the file if it is absent, and checks who can access it. Several processes can do this at the same time.
 *
 * @param creates whether the file may be absent. `false` if it existed before: another process may still have the
 * removed file, so a token that is revoked in one of the two files would be valid in the other
 * @throws Error that says what is wrong and what to do.
 */
export function prepareFile(file: string, creates: boolean): FileIdentity {
  try {
    return prepare(file, creates)
  } catch (error) {
    const code = errorCode(error)
    if (code === undefined) throw error
    throw storageError(
      explainDiskError(error, file) ??
        `${file} cannot be used (${code}); use a file on a local disk, in a directory of the user of this process`,
      error,
    )
  }
}

export const movedError = (file: string): Error =>
  storageError(`${file} was moved, replaced or removed while it was in use; put it back, or restart this process`)

/**
 * Whether both paths still lead to the file: an administrator can move or replace it, or switch a symbolic link to it,
 * while it is open.
 */
export function isInPlace({ path, configured, device, inode }: FileIdentity): boolean {
  const leadsToFile = (candidate: string): boolean => {
    const stats = statSync(candidate, { throwIfNoEntry: false })
    return stats !== undefined && stats.ino === inode && stats.dev === device
  }
  return leadsToFile(path) && (configured === path || leadsToFile(configured))
}
