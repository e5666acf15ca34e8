import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { fileErrorReason } from '../error-message.ts'

/** The output of a command. */
export interface Output {
  write(text: string): void
}

/**
 * Calls `use` with standard output, or with a new file that only this user can read. If `use` fails, the file is removed.
 *
 * @throws TypeError with a one-line message if the file exists, also as a link, or cannot be written.
 */
export async function withOutput<T>(path: string | undefined, use: (output: Output) => Promise<T>): Promise<T> {
  if (path === undefined) return use({ write: (text) => void process.stdout.write(text) })
  let file: number
  try {
    // `wx` follows no link.
    file = openSync(path, 'wx', 0o600)
  } catch (cause) {
    const isTaken = fileErrorReason(cause) === 'EEXIST'
    throw new TypeError(
      isTaken
        ? `${path} already exists and was not changed; choose another file, or delete it first`
        : `cannot write to ${path} (${fileErrorReason(cause)})`,
      { cause },
    )
  }
  try {
    const result = await use({ write: (text) => void writeSync(file, text) })
    closeSync(file)
    return result
  } catch (cause) {
    closeSync(file)
    rmSync(path, { force: true })
    throw cause
  }
}
