import {
  type Imported,
  type ImportedNames,
  type ImportFunction,
  importAuth0,
  importHydra,
  importIdentityServer,
  importKeycloak,
  importOidcProvider,
} from '@grantry/administration/import'
import { hashPassword, keycloakPasswordHash, passwordHashProblem } from '@grantry/users/password-hash'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { importReport } from '../declaration/import-report.ts'
import { withOutput } from '../declaration/output-file.ts'
import { readExport } from '../declaration/read-export.ts'
import { withTextsOnly } from '../declaration/texts-only.ts'
import { withUsableEntries } from '../declaration/usable-entries.ts'
import { jsonText } from '../sanitize-text.ts'

interface ImportArguments {
  readonly out?: string
  readonly report?: string
  readonly json?: true
  readonly names?: ImportedNames
}

const systems: ReadonlyMap<string, ImportFunction> = new Map<string, ImportFunction>([
  ['keycloak', importKeycloak],
  ['identityserver', importIdentityServer],
  ['hydra', importHydra],
  ['auth0', importAuth0],
  ['oidc-provider', importOidcProvider],
])
const names = [...systems.keys()].join(', ')

function systemOf(name: string): string {
  if (systems.has(name)) return name
  throw new InvalidArgumentError(`It must be one of ${names}.`)
}

/** Returns the lists that have entries. With --prune, an empty list would remove everything of its kind. */
const declaration = ({ scopes, clients, users }: Imported) =>
  Object.fromEntries(Object.entries({ scopes, clients, users }).filter(([, entries]) => entries.length > 0))

/** Runs `grantry import`. */
async function importCommand(
  system: string,
  file: string,
  { out, report, json, names: kind }: ImportArguments,
): Promise<void> {
  const read = systems.get(system)
  if (read === undefined) throw new TypeError(`the system must be one of ${names}`)
  const ports = { keycloakPasswordHash, passwordHashProblem, hashPassword, names: kind }
  const imported = await withUsableEntries(await read(await readExport(file), ports))
  const declared = withTextsOnly(declaration(imported))
  await withOutput(out, async (output) => output.write(`${jsonText(declared)}\n`))
  const text = json ? `${jsonText(imported.findings)}\n` : importReport(imported)
  if (report === undefined) process.stderr.write(text)
  else await withOutput(report, async (output) => output.write(text))
}

/** Adds `grantry import`. It needs no configuration. */
export function addImportCommand(grantry: Command): void {
  grantry
    .command('import')
    .argument('<system>', `where the export comes from: ${names}`, systemOf)
    .argument('<file>', 'the export: JSON, a directory of JSON files, or - for standard input')
    .description(
      'turn the export of another system into a file for grantry apply, with a report of the settings that have no counterpart',
    )
    .option('--out <file>', 'create this file, which only you can read, instead of printing')
    .option('--report <file>', 'create this file for the report, instead of printing it to standard error')
    .addOption(
      new Option('--names <kind>', 'what users sign in with: address, if it is verified (default: username)').choices([
        'username',
        'address',
      ]),
    )
    .option('--json', 'the report as JSON')
    .action(importCommand)
}
