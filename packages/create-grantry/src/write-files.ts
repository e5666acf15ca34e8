import { closeSync, existsSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

// Without `recursive`: below /proc, where no directory can be created, Node.js loops forever.
function makeDirectories(directory: string): void {
  if (existsSync(directory)) return
  // A missing Windows drive is its own parent.
  if (dirname(directory) !== directory) makeDirectories(dirname(directory))
  mkdirSync(directory)
}

/**
 * Creates files, all of them or none.
 *
 * @param secret the names of the files that only this user can read
 * @throws TypeError with one line if a file exists, or cannot be created.
 */
export function writeFiles(
  directory: string,
  files: Readonly<Record<string, string>>,
  secret: readonly string[],
): void {
  const taken = Object.keys(files).filter((name) => existsSync(join(directory, name)))
  if (taken.length > 0) {
    throw new TypeError(
      `${directory} already has ${taken.join(', ')}, and nothing was changed; choose another directory`,
    )
  }
  const made: string[] = []
  try {
    for (const [name, content] of Object.entries(files)) {
      const path = join(directory, name)
      makeDirectories(dirname(path))
      // `wx` also fails if the file was created since the check.
      const file = openSync(path, 'wx', secret.includes(name) ? 0o600 : 0o666)
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
