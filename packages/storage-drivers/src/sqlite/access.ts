import { lstatSync, realpathSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'
import process from 'node:process'
import { currentUser, isGranted } from '../deno-permissions.ts'

const refusal = (sentence: string): Error => new Error(`storage: ${sentence}`)

const isWindows = process.platform === 'win32'

/** Checks for root, too: the owner of a file or directory can replace what root would trust. */
function assertOwner(path: string, { uid }: Stats, trusted: readonly number[]): void {
  const user = currentUser()
  if (user === undefined || uid === user || trusted.includes(uid)) return
  throw refusal(`${path} belongs to another user (${uid}); make the user of this process its owner`)
}

const root = 0

const isWritable = ({ mode }: Stats, by: number): boolean => (mode & by) !== 0
const isSticky = ({ mode }: Stats): boolean => (mode & 0o1000) !== 0

const writable = (path: string, who: string): Error =>
  refusal(`other users of this machine can write to ${path}; run chmod ${who}-w ${path}`)

function assertDirectory(path: string, stats: Stats): void {
  assertOwner(path, stats, [root])
  if (isWritable(stats, 0o022)) throw writable(path, 'go')
}

/**
 * In a sticky directory, users cannot move files of others. The owner and the group of a parent are trusted: the parent
 * is often a volume, or the project of the user who started a container.
 */
function assertParent(path: string, stats: Stats): void {
  // Others can write through a symbolic link only where they can write to its target.
  if (!stats.isSymbolicLink() && isWritable(stats, 0o002) && !isSticky(stats)) throw writable(path, 'o')
}

function parentsOf(path: string): readonly string[] {
  const parent = dirname(path)
  return parent === path ? [] : [parent, ...parentsOf(parent)]
}

/**
 * Checks which users can replace a directory by another one of the same name.
 *
 * @param directory can lead through symbolic links
 * @throws Error that says what is wrong and what to do
 */
export function assertParents(directory: string): void {
  if (isWindows) return
  const real = realpathSync(directory)
  for (const parent of new Set([...parentsOf(real), directory, ...parentsOf(directory)])) {
    if (parent !== real && isGranted({ name: 'read', path: parent })) assertParent(parent, lstatSync(parent))
  }
}

/**
 * Checks which users can replace the files of a directory: those that SQLite creates beside the database are as
 * sensitive as the database. In a sticky directory, others can create these files once they are removed. A user who can
 * replace a parent directory can replace all of them.
 *
 * @param directory can lead through symbolic links
 * @throws Error that says what is wrong and what to do
 */
export function assertPrivateDirectory(directory: string): void {
  if (isWindows) return
  const real = realpathSync(directory)
  assertDirectory(real, lstatSync(real))
  assertParents(directory)
}

function assertPrivate(path: string, stats: Stats): void {
  if ((stats.mode & 0o077) !== 0) {
    throw refusal(`other users of this machine can access ${path}; run chmod 600 ${path}`)
  }
  assertOwner(path, stats, [])
}

/**
 * Checks which users can access a database and the files beside it, from which SQLite recovers writes.
 *
 * @throws Error that says what is wrong and what to do
 */
export function assertPrivateFiles(path: string, stats: Stats): void {
  if (isWindows) return
  assertPrivate(path, stats)
  // SQLite names the files beside the database after it, so each name would have its own.
  if (stats.nlink > 1) {
    throw refusal(`${path} has ${stats.nlink} names (hard links); remove the others, or set another file`)
  }
  for (const beside of ['-wal', '-shm', '-journal'].map((ending) => path + ending)) {
    const besideStats = lstatSync(beside, { throwIfNoEntry: false })
    if (besideStats === undefined) continue
    if (!besideStats.isFile()) throw refusal(`${beside} is not a file; remove it`)
    assertPrivate(beside, besideStats)
  }
}
