/** Returns the `code` of a file system error, such as `ENOENT`. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/**
 * Runs an operation. Returns `false` when it fails with one of these codes, which other processes can cause at any
 * time; throws every other error.
 */
export function ignoringErrors(codes: readonly string[], operate: () => void): boolean {
  try {
    operate()
    return true
  } catch (error) {
    if (codes.includes(errorCode(error) ?? '')) return false
    throw error
  }
}

export const notFoundCodes: readonly string[] = ['ENOENT']

/** The target directory is not empty, or exists on Windows, which cannot rename a directory over another one. */
export const occupiedCodes: readonly string[] = [
  'ENOTEMPTY',
  'EEXIST',
  ...(process.platform === 'win32' ? ['EPERM', 'EACCES'] : []),
]
