import { closeSync, constants, fstatSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { fileErrorReason } from '../error-message.ts'

/** A file that collects new secrets. */
export interface SecretsFile {
  /** Adds a line, and returns when it is on the disk. */
  add(id: string, secret: string): void
  close(): void
}

const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants

/**
 * Opens a file to which new secrets are appended, one JSON object per line. An `apply` that is repeated adds to it. Only
 * this user can read it: a file that others could read, or a link, is refused.
 *
 * @throws TypeError with a one-line message.
 */
export function openSecretsFile(path: string): SecretsFile {
  let file: number
  try {
    // A link could lead to a file of another user. Opening a pipe would wait for its reader.
    file = openSync(path, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW | O_NONBLOCK, 0o600)
  } catch (cause) {
    throw new TypeError(`cannot write to ${path} (${fileErrorReason(cause)}); name a file in a directory of yours`)
  }
  const status = fstatSync(file)
  const isOthers = process.getuid !== undefined && (status.uid !== process.getuid() || (status.mode & 0o077) !== 0)
  if (!status.isFile() || status.nlink !== 1 || isOthers) {
    closeSync(file)
    throw new TypeError(`${path} is not a file that only this user can read; name another one, or chmod 600 it`)
  }
  return {
    add(id, secret) {
      writeSync(file, `${JSON.stringify({ id, secret })}\n`)
      fsyncSync(file)
    },
    close: () => closeSync(file),
  }
}
