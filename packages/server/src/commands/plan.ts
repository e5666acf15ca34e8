import { hasColors, planJson, planText } from '../declaration/plan-text.ts'
import { type PlannedArguments, withPlan } from '../declaration/planned.ts'
import { jsonText } from '../sanitize-text.ts'
import { silentFailure } from './silent-failure.ts'

export interface PlanArguments extends PlannedArguments {
  readonly exitCode?: true
}

const changesExist = 2

/** Runs `grantry plan`. */
export async function planCommand(file: string, given: PlanArguments): Promise<void> {
  const plan = await withPlan(file, given, async (made) => made)
  process.stdout.write(
    given.json ? `${jsonText(planJson(plan))}\n` : planText(plan, { colored: hasColors(process.stdout) }),
  )
  if (given.exitCode === true && plan.changes.length > 0) throw silentFailure(changesExist)
}
