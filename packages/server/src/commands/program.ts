import { Command, CommanderError } from 'commander'
import { selectTenant } from '../opening/command-options.ts'
import { sanitizeLines } from '../sanitize-text.ts'
import { version } from '../version.ts'
import { modulesFor } from './command-modules.ts'
import { silentExitCode } from './silent-failure.ts'

const ended = 0
const failed = 1
const wrongUsage = 2

/** The commands that can be about one tenant. */
const ofTenants: readonly string[] = [
  'clients',
  'scopes',
  'users',
  'registrations',
  'audit',
  'keys',
  'revoke',
  'token',
  'plan',
  'apply',
  'export',
  'login',
]

/**
 * Returns the tenant that a command names. Refuses the option for other commands, which would ignore it and change the
 * server itself.
 */
function tenantFor(grantry: Command, command: Command): string | undefined {
  const { tenant } = grantry.opts<{ readonly tenant?: string }>()
  if (tenant === undefined) return undefined
  let first = command
  while (first.parent !== null && first.parent !== grantry) first = first.parent
  if (ofTenants.includes(first.name())) return tenant
  return command.error(`error: ${first.name()} is about the whole server; remove --tenant`, { exitCode: wrongUsage })
}

async function program(commandLine: readonly string[]): Promise<Command> {
  const grantry = new Command('grantry')
    .description('An OAuth 2.0 / OpenID Connect token service')
    .version(version)
    .exitOverride()
    // The errors of commander quote arguments.
    .configureOutput({ writeErr: (text) => process.stderr.write(sanitizeLines(text)) })
    .configureHelp({ showGlobalOptions: true })
    .option('--tenant <name>', `the tenant whose entries a command changes: ${ofTenants.join(', ')}`)
    .hook('preAction', (grantry, command) => selectTenant(tenantFor(grantry, command)))

  for (const add of await Promise.all(modulesFor(commandLine).map(({ load }) => load()))) add(grantry)
  return grantry
}

/** `plan --exit-code` ends with 2 when there are changes. A mistyped option must not look like that. */
const usageCodeOf = ([command]: readonly string[]): number => (command === 'plan' ? failed : wrongUsage)

/** Runs a command. Returns its exit code. */
export async function run(commandLine: readonly string[]): Promise<number> {
  try {
    await (await program(commandLine)).parseAsync([...commandLine], { from: 'user' })
    return ended
  } catch (error) {
    const exitCode = silentExitCode(error)
    if (exitCode !== undefined) return exitCode
    // Commander has already printed its message. The exit code is 0 for --help and --version.
    if (error instanceof CommanderError) return error.exitCode === 0 ? ended : usageCodeOf(commandLine)
    const { reportProblems } = await import('./report-problems.ts')
    reportProblems(error)
    return failed
  }
}
