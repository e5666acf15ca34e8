import { closeSync, existsSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

// Without `recursive`: below /proc, where no directory can be created, Node.js loops forever.
function makeDirectories(directory: string): void {
  if (existsSync(directory)) return
  // A missing Windows drive is its own parent.
  if (dirname(directory) !== directory) makeDirectories(dirname(directory))
  mkdirSync(directory, { mode: 0o700 })
}

/**
 * Creates files that only this user can read: all of them, or none.
 *
 * @throws TypeError with a one-line message if a file already exists, or the directory is not writable.
 */
export function writeFiles(directory: string, files: Readonly<Record<string, string>>): void {
  const taken = Object.keys(files).find((name) => existsSync(join(directory, name)))
  if (taken !== undefined) {
    throw new TypeError(
      `${join(directory, taken)} already exists and was not changed; choose another directory, or delete it first`,
    )
  }
  const made: string[] = []
  try {
    makeDirectories(directory)
    for (const [name, content] of Object.entries(files)) {
      const path = join(directory, name)
      // `wx` also fails if the file was created since the check.
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
    const remedy = code === 'ENOSPC' ? 'free space on the disk' : 'choose a directory that this user can write to'
    throw new TypeError(`cannot write to ${directory} (${code}); ${remedy}`, { cause })
  }
}
