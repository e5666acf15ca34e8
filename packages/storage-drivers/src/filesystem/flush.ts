import { closeSync, fsync, openSync } from 'node:fs'
import { promisify } from 'node:util'
import { gone, tolerating } from './tolerating.ts'

/** Makes what was written survive a power cut. Each answers `false` when nothing is at the path any more. */
export interface Flush {
  file(path: string): Promise<boolean>
  /** The names in a directory; not what is in the files. */
  directory(path: string): Promise<boolean>
}

// The one call that waits for the disk, so the one that must not block the process.
const sync = promisify(fsync)

async function flush(path: string, flags: string): Promise<boolean> {
  let descriptor = -1
  const found = tolerating(gone, () => {
    descriptor = openSync(path, flags)
  })
  if (!found) return false
  try {
    await sync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  return true
}

/** @param enabled `false`: all is left to the operating system, and is there again after a crash of the process, not of the machine. */
export function createFlush(enabled: boolean): Flush {
  const nothing = (): Promise<boolean> => Promise.resolve(true)
  return {
    // Windows flushes no file that is open for reading only, and no directory at all.
    file: enabled ? (path) => flush(path, 'r+') : nothing,
    directory: enabled && process.platform !== 'win32' ? (path) => flush(path, 'r') : nothing,
  }
}
