import { closeSync, fsync, openSync } from 'node:fs'
import { promisify } from 'node:util'
import { ignoringErrors, notFoundCodes } from './ignore-errors.ts'

/** Makes writes survive a power cut. Both methods resolve to `false` when the path no longer exists. */
export interface Flush {
  file(path: string): Promise<boolean>
  /** Flushes the entries of a directory, not the contents of its files. */
  directory(path: string): Promise<boolean>
}

// The only call that waits for the disk, so it must not block the event loop.
const sync = promisify(fsync)

async function flush(path: string, flags: string): Promise<boolean> {
  let descriptor = -1
  const exists = ignoringErrors(notFoundCodes, () => {
    descriptor = openSync(path, flags)
  })
  if (!exists) return false
  try {
    await sync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  return true
}

/**
 * @param enabled `false` leaves flushing to the operating system: writes survive a crash of the process, but not of the
 * machine.
 */
export function createFlush(enabled: boolean): Flush {
  const noFlush = (): Promise<boolean> => Promise.resolve(true)
  return {
    // Windows cannot flush directories or files that are open for reading only.
    file: enabled ? (path) => flush(path, 'r+') : noFlush,
    directory: enabled && process.platform !== 'win32' ? (path) => flush(path, 'r') : noFlush,
  }
}
