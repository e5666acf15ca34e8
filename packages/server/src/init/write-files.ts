import { closeSync, existsSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Not by `recursive`: where nothing can be made (below /proc) Node.js tries without end. */
function makeAll(directory: string): void {
  if (existsSync(directory)) return
  // A drive of Windows that is not there has no parent.
  if (dirname(directory) !== directory) makeAll(dirname(directory))
  mkdirSync(directory, { mode: 0o700 })
}

/**
 * Writes new files that only this user can read, all or none.
 *
 * @throws TypeError with one sentence when one of them is there already, or the directory cannot be written.
 */
export function writeFiles(directory: string, files: Readonly<Record<string, string>>): void {
  const taken = Object.keys(files).find((name) => existsSync(join(directory, name)))
  if (taken !== undefined) {
    throw new TypeError(
      `${join(directory, taken)} is there already and is left as it is; name another directory, or remove it first`,
    )
  }
  const made: string[] = []
  try {
    makeAll(directory)
    for (const [name, content] of Object.entries(files)) {
      const path = join(directory, name)
      // Not even to a file that came between the look and this line.
      const file = openSync(path, 'wx', 0o600)
      made.push(path)
      try {
        writeFileSync(file, content)
      } finally {
        closeSync(file)
      }
    }
  } catch (cause) {
    for (const path of made) rmSync(path, { force: true })
    const { code } = cause as { readonly code?: string }
    const remedy = code === 'ENOSPC' ? 'its disk is full, make room on it' : 'name a directory of this user'
    throw new TypeError(`${directory} cannot be written (${code}); ${remedy}`, { cause })
  }
}
