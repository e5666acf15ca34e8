import { makePlan, type Plan } from '@grantry/administration'
import { configurationProblems } from '@grantry/core'
import { checkDeclared } from '../administration/check-declared.ts'
import { type CommandAdministration, withAdministration } from '../administration/open-administration.ts'
import { assertSharedStorage, requireConfiguration } from '../commands/configuration.ts'
import { silentFailure } from '../commands/silent-failure.ts'
import { errorMessage } from '../error-message.ts'
import { readDeclaration } from './read-declaration.ts'

export interface PlannedArguments {
  readonly config?: string
  readonly prune?: true
  readonly json?: true
}

/** Mistakes that are printed. */
const maxPrinted = 20

/** Prints all mistakes of a file, where other commands print the first one. */
function reportProblems(thrown: unknown): never {
  const problems = configurationProblems(thrown)
  if (problems.length < 2) throw thrown
  const printed = problems.slice(0, maxPrinted).map((problem) => `grantry: ${errorMessage(problem)}\n`)
  const rest = problems.length - printed.length
  process.stderr.write(`${printed.join('')}${rest > 0 ? `grantry: and ${rest} more mistakes\n` : ''}`)
  throw silentFailure()
}

/** Compares a file with the storage, checks the result, and calls `use` with the plan. */
export async function withPlan<T>(
  file: string,
  { config, prune = false }: Pick<PlannedArguments, 'config'> & { readonly prune?: boolean },
  use: (plan: Plan, administration: CommandAdministration) => Promise<T>,
): Promise<T> {
  const loaded = await requireConfiguration(config)
  assertSharedStorage(loaded, 'change the configuration instead')
  const declaration = await readDeclaration(file, loaded).catch(reportProblems)
  return withAdministration(loaded, async (administration) => {
    const plan = await makePlan(declaration, administration, { prune })
    await checkDeclared(loaded, plan, administration).catch(reportProblems)
    return use(plan, administration)
  })
}
