import { createInterface } from 'node:readline'
import { type Applied, applyPlan, type Plan, type PlannedChange, refusalOf } from '@grantry/administration'
import { countsOf, hasColors, planJson, planText } from '../declaration/plan-text.ts'
import { type PlannedArguments, withPlan } from '../declaration/planned.ts'
import { openSecretsFile, type SecretsFile } from '../declaration/secrets-file.ts'
import { errorMessage } from '../error-message.ts'
import type { CommandAdministration } from '../opening/open-administration.ts'
import { jsonText, sanitizeText } from '../sanitize-text.ts'
import { print } from './output.ts'

export interface ApplyArguments extends PlannedArguments {
  readonly yes?: true
  readonly secretsFile?: string
}

/** Asks on the terminal. */
function isConfirmed(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  return new Promise((resolve) => {
    lines.once('close', () => resolve(false))
    lines.question(question, (answer) => {
      resolve(/^y(?:es)?$/iu.test(answer.trim()))
      lines.close()
    })
  })
}

/** @throws TypeError if the changes were not confirmed, and none was made. */
async function confirm(file: string, { yes }: ApplyArguments): Promise<void> {
  if (yes === true) return
  if (file === '-' || process.stdin.isTTY !== true)
    throw new TypeError('nothing was changed: without a terminal, or from standard input, pass --yes to apply the plan')
  if (!(await isConfirmed('Apply these changes? [y/N] '))) throw new TypeError('nothing was changed')
}

const named = ({ kind, id }: PlannedChange): string => sanitizeText(`${kind.type.noun} ${id}`)

/** @throws TypeError that says how much has been changed, and how to continue. */
function assertDone({ done, failure }: Applied, { changes }: Plan): void {
  if (failure === undefined) return
  const { change, cause } = failure
  const again =
    refusalOf(cause)?.reason === 'outdated' || refusalOf(cause)?.reason === 'exists'
      ? 'run it again, and look at the new plan'
      : 'run it again to make the others'
  const message = `${done.length} of ${changes.length} changes were made, then the ${named(change)} failed: ${errorMessage(cause)}; ${again}`
  throw new TypeError(message, { cause })
}

/** Keeps new secrets: in the file, or on standard output. */
function secretKeeper(file: SecretsFile | undefined, { json }: ApplyArguments) {
  const kept: Record<string, string> = {}
  return {
    kept,
    keep(change: PlannedChange, secret: string): void {
      if (file !== undefined) file.add(change.id, secret)
      else if (json === true) kept[change.id] = secret
      else print(`secret of the ${named(change)}: ${secret}\n`)
    },
  }
}

async function makeChanges(plan: Plan, { unchecked }: CommandAdministration, options: ApplyArguments): Promise<void> {
  const file = options.secretsFile === undefined ? undefined : openSecretsFile(options.secretsFile)
  const { kept, keep } = secretKeeper(file, options)
  try {
    const applied = await applyPlan(plan, { managers: unchecked, keepSecret: keep })
    // Printed even if a change has failed: the secrets of the others are not stored anywhere else.
    const made = { ...planJson(plan), done: applied.done.length, secrets: kept }
    if (options.json) print(`${jsonText(made)}\n`)
    assertDone(applied, plan)
  } finally {
    file?.close()
  }
}

/** Runs `grantry apply`. */
export const applyCommand = (file: string, options: ApplyArguments): Promise<void> =>
  withPlan(file, options, async (plan, administration) => {
    // Not by `print()`, which would remove the colors. `planText()` has removed control characters from values.
    if (!options.json) process.stdout.write(planText(plan, { colored: hasColors(process.stdout) }))
    const isEmpty = plan.changes.length === 0
    if (!isEmpty) await confirm(file, options)
    if (!isEmpty || options.json) await makeChanges(plan, administration, options)
    const { add, change, remove } = countsOf(plan)
    if (!isEmpty && !options.json) print(`Added ${add}, changed ${change}, removed ${remove}.\n`)
  })
