import { problemsIn } from '../error-message.ts'

/** The maximum number of mistakes that are printed. */
const maxPrinted = 20

/** Prints why a command has failed: all mistakes of a configuration, or of declared and added entries. */
export function reportProblems(thrown: unknown): void {
  const problems = problemsIn(thrown)
  const printed = problems.slice(0, maxPrinted).map((problem) => `grantry: ${problem}\n`)
  const rest = problems.length - printed.length
  process.stderr.write(`${printed.join('')}${rest > 0 ? `grantry: and ${rest} more mistakes\n` : ''}`)
}
