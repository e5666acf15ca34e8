// The global setup of Vitest: all files that tests and their processes leave behind are in one directory, which is
// removed after the run. Vitest ends its workers by signals, so they cannot remove them.
import { accessSync, chmodSync, constants, existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file system in memory: on it, the tests of the filesystem driver take an eighth of the time. */
const memory = '/dev/shm'
const leastFree = 2 ** 30

const remove = (directory: string): void => rmSync(directory, { recursive: true, force: true, maxRetries: 5 })

/** Whether the file system exists, has room, and allows to execute programs. */
function isUsable(): boolean {
  if (!existsSync(memory)) return false
  const { bavail, bsize } = statfsSync(memory)
  if (bavail * bsize < leastFree) return false
  const directory = mkdtempSync(join(memory, 'grantry-run-'))
  try {
    const program = join(directory, 'program')
    writeFileSync(program, '', { mode: 0o755 })
    accessSync(program, constants.X_OK)
    return true
  } catch {
    return false
  } finally {
    remove(directory)
  }
}

export function setup(): () => void {
  const directory = mkdtempSync(join(isUsable() ? memory : tmpdir(), 'grantry-run-'))
  // Some tests start processes of other users.
  chmodSync(directory, 0o755)
  process.env.GRANTRY_DISK_TMPDIR = tmpdir()
  process.env.TMPDIR = directory
  process.env.GRANTRY_RUN_DIRECTORY = directory
  return () => remove(directory)
}
