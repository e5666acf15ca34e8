/** The `code` of an error of the file system, such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/**
 * Whether the operation was done; `false` when it failed with one of these codes, which other processes may cause at any time.
 * Every other error is thrown.
 */
export function tolerating(codes: readonly string[], operate: () => void): boolean {
  try {
    operate()
    return true
  } catch (error) {
    if (codes.includes(codeOf(error) ?? '')) return false
    throw error
  }
}

export const gone: readonly string[] = ['ENOENT']

/** A directory that something is in, or, on Windows, that exists: there, no directory is renamed to one that does. */
export const occupied: readonly string[] = [
  'ENOTEMPTY',
  'EEXIST',
  ...(process.platform === 'win32' ? ['EPERM', 'EACCES'] : []),
]
