import { codeOf } from './tolerating.ts'

const pathOf = (error: unknown): string | undefined =>
  error instanceof Error && 'path' in error && typeof error.path === 'string' ? error.path : undefined

/** What failed and what to do, for the errors of the operating system that an operator can repair; `undefined` for any other. */
export function explanationOf(error: unknown, directory: string): string | undefined {
  const code = codeOf(error)
  switch (code) {
    case 'ENOSPC':
      return `the disk of ${directory} is full (ENOSPC); make room on it`
    case 'EDQUOT':
      return `the disk quota for ${directory} is used up (EDQUOT); raise it, or make room`
    case 'EROFS':
      return `the file system of ${directory} is read-only (EROFS); mount it with write access`
    case 'EACCES':
    case 'EPERM':
      return `${pathOf(error) ?? directory} cannot be accessed (${code}); let it belong to the user of this process`
    default:
      return undefined
  }
}

/** Whether no room is left for what was to be written. */
export const isFull = (error: unknown): boolean => ['ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '')

/** The error to throw in place of this one: Node.js does not say which disk is full. */
export function explained(error: unknown, directory: string): unknown {
  const sentence = explanationOf(error, directory)
  return sentence === undefined ? error : new Error(sentence, { cause: error })
}
