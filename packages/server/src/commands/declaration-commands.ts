import { type ExportedPage, exportedPages } from '@grantry/administration'
import type { Command } from 'commander'
import { type Output, withOutput } from '../declaration/output-file.ts'
import { hasColors, planJson, planText } from '../declaration/plan-text.ts'
import { type PlannedArguments, withPlan } from '../declaration/planned.ts'
import { withTextsOnly } from '../declaration/texts-only.ts'
import { configOption } from '../opening/command-options.ts'
import { withAdministration } from '../opening/open-administration.ts'
import { assertSharedStorage, requireConfiguration } from '../opening/open-configuration.ts'
import { jsonText } from '../sanitize-text.ts'
import { type ApplyArguments, applyCommand } from './apply.ts'
import { addImportCommand } from './import.ts'
import { silentFailure } from './silent-failure.ts'

interface PlanArguments extends PlannedArguments {
  readonly exitCode?: true
}

const changesExist = 2

/** Runs `grantry plan`. */
async function planCommand(file: string, options: PlanArguments): Promise<void> {
  const plan = await withPlan(file, options, async (made) => made)
  process.stdout.write(
    options.json ? `${jsonText(planJson(plan))}\n` : planText(plan, { colored: hasColors(process.stdout) }),
  )
  if (options.exitCode === true && plan.changes.length > 0) throw silentFailure(changesExist)
}

interface ExportArguments {
  readonly config?: string
  readonly out?: string
  readonly withHashes?: true
}

/** Indents the lines of an entry in its list. */
const indented = (value: unknown): string => jsonText(value).replaceAll(/^/gmu, '    ')

/** Writes the lists page by page: a storage can have a million users. Each list has at least one page. */
async function writeAll(output: Output, pages: AsyncIterable<ExportedPage>): Promise<void> {
  let list: string | undefined
  let separator = ''
  for await (const page of pages) {
    if (page.list !== list) {
      output.write(`${list === undefined ? '{\n' : '\n  ],\n'}  ${JSON.stringify(page.list)}: [`)
      list = page.list
      separator = '\n'
    }
    for (const entry of page.entries) {
      output.write(`${separator}${indented(withTextsOnly(entry))}`)
      separator = ',\n'
    }
  }
  output.write('\n  ]\n}\n')
}

/** Runs `grantry export`. */
async function exportCommand({ config, out, withHashes }: ExportArguments): Promise<void> {
  const loaded = await requireConfiguration(config)
  assertSharedStorage(loaded, 'its entries are in the server only')
  await withAdministration(loaded, (administration) =>
    withOutput(out, (output) => writeAll(output, exportedPages(administration, { withHashes: withHashes === true }))),
  )
}

const fileArgument = [
  '<file>',
  'a JSON file with clients, scopes and users, a directory of such files, or - for standard input',
] as const
const pruneOption = ['--prune', 'also remove what the file does not have, in the lists that it has'] as const

/** Adds the commands that compare files with the storage. */
export function addDeclarationCommands(grantry: Command): void {
  grantry
    .command('plan')
    .argument(...fileArgument)
    .description('show what would change if a file was applied; changes nothing')
    .option(...configOption)
    .option(...pruneOption)
    .option('--exit-code', 'end with 2 if there is something to change, with 1 for an error')
    .option('--json', 'print JSON')
    .action((file: string, options: PlanArguments) => planCommand(file, options))

  grantry
    .command('apply')
    .argument(...fileArgument)
    .description('change the storage to what a file declares; shows the plan first, and asks on a terminal')
    .option(...configOption)
    .option(...pruneOption)
    .option('-y, --yes', 'do not ask')
    .option('--secrets-file <file>', 'append the secrets of new clients to this file, which only you can read')
    .option('--json', 'print JSON')
    .action((file: string, options: ApplyArguments) => applyCommand(file, options))

  grantry
    .command('export')
    .description('print what is in the storage as a file for grantry apply, without secrets and hashes')
    .option(...configOption)
    .option('--out <file>', 'create this file, which only you can read, instead of printing')
    .option('--with-hashes', 'with the hashes of secrets and passwords, to copy everything to another storage')
    .action((options: ExportArguments) => exportCommand(options))

  addImportCommand(grantry)
}
