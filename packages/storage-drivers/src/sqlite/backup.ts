import { closeSync, fsyncSync, linkSync, openSync, rmSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { assertPrivateDirectory } from './access.ts'
import type { Step } from './item-table.ts'

const flush = (path: string, flags: string): void => {
  const descriptor = openSync(path, flags)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Returns the step that copies the database to a file, which appears under its name only when it is complete. SQLite
 * copies the state of one moment; writes of other processes continue.
 *
 * @throws Error when the file exists, or others can write to its directory
 */
export function backupTo(file: string): Step<void> {
  const target = resolve(file)
  const draft = `${target}.${process.pid}.partial`
  return (database) => {
    if (statSync(target, { throwIfNoEntry: false }) !== undefined) {
      throw new Error(`storage: ${target} exists; name a new file for the backup`)
    }
    try {
      // A user who can write to the directory could replace the file that an operator restores.
      assertPrivateDirectory(dirname(target))
      // SQLite accepts an empty file, and keeps its mode.
      closeSync(openSync(draft, 'wx', 0o600))
      database.run('VACUUM INTO ?1', draft)
      flush(draft, 'r+')
      // Unlike a renaming, it never replaces a file that has appeared in the meantime.
      linkSync(draft, target)
      rmSync(draft)
      // Windows cannot flush directories.
      if (process.platform !== 'win32') flush(dirname(target), 'r')
    } catch (error) {
      rmSync(draft, { force: true })
      const reason = (error as Error).message.replace(/^storage: /u, '')
      throw new Error(`storage: the backup to ${target} has failed: ${reason}`, { cause: error })
    }
  }
}
