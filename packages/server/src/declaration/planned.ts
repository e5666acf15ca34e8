import { makePlan, type Plan } from '@grantry/administration'
import { checkDeclared } from '../administration/check-declared.ts'
import { type CommandAdministration, warnOf, withAdministration } from '../opening/open-administration.ts'
import { assertSharedStorage, requireConfiguration } from '../opening/open-configuration.ts'
import { readDeclaration } from './read-declaration.ts'

export interface PlannedArguments {
  readonly config?: string
  readonly prune?: true
  readonly json?: true
}

/** Compares a file with the storage, checks the result, and calls `use` with the plan. */
export async function withPlan<T>(
  file: string,
  { config, prune = false }: Pick<PlannedArguments, 'config'> & { readonly prune?: boolean },
  use: (plan: Plan, administration: CommandAdministration) => Promise<T>,
): Promise<T> {
  const loaded = await requireConfiguration(config)
  assertSharedStorage(loaded, 'change the configuration instead')
  const declaration = await readDeclaration(file, loaded)
  return withAdministration(loaded, async (administration) => {
    const plan = await makePlan(declaration, administration, { prune })
    await checkDeclared(loaded, plan, administration)
    warnOf(
      plan.declared.flatMap(({ kind, value, where }) =>
        (kind.type.gaps?.(value as never) ?? []).map((gap) => `${where}: ${gap}`),
      ),
    )
    return use(plan, administration)
  })
}
