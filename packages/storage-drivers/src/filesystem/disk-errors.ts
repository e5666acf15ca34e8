import { errorCode } from './ignore-errors.ts'

const pathOf = (error: unknown): string | undefined =>
  error instanceof Error && 'path' in error && typeof error.path === 'string' ? error.path : undefined

/** Returns what failed and what to do, for system errors that an operator can repair; `undefined` for others. */
export function explainDiskError(error: unknown, directory: string): string | undefined {
  const code = errorCode(error)
  switch (code) {
    case 'ENOSPC':
      return `the disk of ${directory} is full (ENOSPC); free some space`
    case 'EDQUOT':
      return `the disk quota for ${directory} is exhausted (EDQUOT); raise it or free some space`
    case 'EROFS':
      return `the file system of ${directory} is read-only (EROFS); mount it with write access`
    case 'EACCES':
    case 'EPERM':
      return `${pathOf(error) ?? directory} cannot be accessed (${code}); make the user of this process its owner`
    default:
      return undefined
  }
}

/** Whether a write failed because the disk or the quota is full. */
export const isDiskFull = (error: unknown): boolean => ['ENOSPC', 'EDQUOT'].includes(errorCode(error) ?? '')

/** Returns the error to throw instead: the errors of Node.js do not name the full disk. */
export function withExplanation(error: unknown, directory: string): unknown {
  const sentence = explainDiskError(error, directory)
  return sentence === undefined ? error : new Error(sentence, { cause: error })
}
