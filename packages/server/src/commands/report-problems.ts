import { configurationProblems } from '@grantry/core'
import { errorMessage } from '../error-message.ts'
import { silentFailure } from './silent-failure.ts'

/** Mistakes that are printed. */
const maxPrinted = 20

/** Prints all mistakes of what is declared or added. @throws the same error, or one that prints nothing more */
export function reportProblems(thrown: unknown): never {
  const problems = configurationProblems(thrown)
  if (problems.length < 2) throw thrown
  const printed = problems.slice(0, maxPrinted).map((problem) => `grantry: ${errorMessage(problem)}\n`)
  const rest = problems.length - printed.length
  process.stderr.write(`${printed.join('')}${rest > 0 ? `grantry: and ${rest} more mistakes\n` : ''}`)
  throw silentFailure()
}
