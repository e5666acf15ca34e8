const brand = Symbol.for('grantry.problems')

/** Creates the error for one or more mistakes in a configuration. Its message is the first one. */
export const configurationError = (problems: readonly [string, ...string[]], options?: ErrorOptions): TypeError =>
  Object.defineProperty(new TypeError(problems[0], options), brand, { value: problems })

/** Throws the error for the mistakes, if there are any. */
export function assertNone([first, ...others]: readonly string[]): void {
  if (first !== undefined) throw configurationError([first, ...others])
}

/**
 * Returns every mistake that an error of `createProvider()` or `parseConfiguration()` reports, one sentence each. The
 * message of the error is the first one.
 *
 * @returns the message of any other error.
 */
export function configurationProblems(thrown: unknown): readonly string[] {
  if (!(thrown instanceof Error)) return [String(thrown)]
  const { [brand]: problems } = thrown as { readonly [brand]?: readonly string[] }
  return problems ?? [thrown.message]
}

/**
 * Runs steps that do not depend on each other, and returns their results.
 *
 * @throws TypeError for the mistakes of all steps.
 */
export function allSteps<const T extends readonly unknown[]>(
  steps: { readonly [Index in keyof T]: () => T[Index] },
): T {
  const problems: string[] = []
  const results = steps.map((step) => {
    try {
      return step()
    } catch (thrown) {
      // Any other error is a defect.
      if (!(thrown instanceof TypeError)) throw thrown
      problems.push(...configurationProblems(thrown))
      return undefined
    }
  })
  assertNone([...new Set(problems)])
  return results as unknown as T
}
