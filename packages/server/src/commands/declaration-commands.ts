import type { Command } from 'commander'
import { configOption } from '../opening/open-configuration.ts'
import { type ApplyArguments, applyCommand } from './apply.ts'
import { type ExportArguments, exportCommand } from './export.ts'
import { addImportCommand } from './import.ts'
import { type PlanArguments, planCommand } from './plan.ts'

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
    .action((file: string, given: PlanArguments) => planCommand(file, given))

  grantry
    .command('apply')
    .argument(...fileArgument)
    .description('change the storage to what a file declares; shows the plan first, and asks on a terminal')
    .option(...configOption)
    .option(...pruneOption)
    .option('-y, --yes', 'do not ask')
    .option('--secrets-file <file>', 'append the secrets of new clients to this file, which only you can read')
    .option('--json', 'print JSON')
    .action((file: string, given: ApplyArguments) => applyCommand(file, given))

  grantry
    .command('export')
    .description('print what is in the storage as a file for grantry apply, without secrets and hashes')
    .option(...configOption)
    .option('--out <file>', 'create this file, which only you can read, instead of printing')
    .option('--with-hashes', 'with the hashes of secrets and passwords, to copy everything to another storage')
    .action((given: ExportArguments) => exportCommand(given))

  addImportCommand(grantry)
}
