import {
  type Finding,
  type Imported,
  type ImportFunction,
  importAuth0,
  importHydra,
  importIdentityServer,
  importKeycloak,
  importOidcProvider,
} from '@grantry/administration'
import { hashPassword, keycloakPasswordHash, passwordHashProblem } from '@grantry/users/password-hash'
import { type Command, InvalidArgumentError } from 'commander'
import { withOutput } from '../declaration/output-file.ts'
import { readExport } from '../declaration/read-export.ts'
import { withTextsOnly } from '../declaration/texts-only.ts'
import { jsonText, sanitizeText } from '../sanitize-text.ts'

interface ImportArguments {
  readonly out?: string
  readonly report?: string
  readonly json?: true
}

const systems: Readonly<Record<string, ImportFunction>> = {
  keycloak: importKeycloak,
  identityserver: importIdentityServer,
  hydra: importHydra,
  auth0: importAuth0,
  'oidc-provider': importOidcProvider,
}
const names = Object.keys(systems).join(', ')

function systemOf(given: string): string {
  if (Object.hasOwn(systems, given)) return given
  throw new InvalidArgumentError(`It must be one of ${names}.`)
}

const count = (list: readonly unknown[], noun: string): string =>
  `${list.length} ${noun}${list.length === 1 ? '' : 's'}`

/** What could not be taken over, one line each. Names can come from an untrusted source. */
function reportText({ scopes, clients, users, findings }: Imported): string {
  const lines = findings.map(({ entry, member, what }: Finding) =>
    sanitizeText(`${entry}: ${member === undefined ? '' : `${member}: `}${what}`),
  )
  const summary = `Imported ${count(clients, 'client')}, ${count(scopes, 'scope')} and ${count(users, 'user')}; ${count(findings, 'note')}.`
  return `${[...lines, summary].join('\n')}\n`
}

/** Returns the lists that have entries. With --prune, an empty list would remove everything of its kind. */
const declaration = ({ scopes, clients, users }: Imported) =>
  Object.fromEntries(Object.entries({ scopes, clients, users }).filter(([, entries]) => entries.length > 0))

/** Runs `grantry import`. */
async function importCommand(system: string, file: string, { out, report, json }: ImportArguments): Promise<void> {
  const read = systems[system]
  if (read === undefined) throw new TypeError(`the system must be one of ${names}`)
  const imported = await read(await readExport(file), { keycloakPasswordHash, passwordHashProblem, hashPassword })
  const declared = withTextsOnly(declaration(imported))
  await withOutput(out, async (output) => output.write(`${jsonText(declared)}\n`))
  const text = json ? `${jsonText(imported.findings)}\n` : reportText(imported)
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
      'turn the export of another system into a file for grantry apply, with a report of what has no counterpart',
    )
    .option('--out <file>', 'create this file, which only you can read, instead of printing')
    .option('--report <file>', 'create this file for the report, instead of printing it to standard error')
    .option('--json', 'the report as JSON')
    .action(importCommand)
}
