import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { addAuditCommand } from './commands/audit.ts'
import { addClientsCommands } from './commands/clients-commands.ts'
import { addCompletionCommand } from './commands/completion.ts'
import { addDeclarationCommands } from './commands/declaration-commands.ts'
import { hashPasswordCommand, hashSecretCommand } from './commands/hash.ts'
import { addKeysCommands } from './commands/keys-commands.ts'
import { addLoginCommand } from './commands/login.ts'
import { addOperatorCommands } from './commands/operator-commands.ts'
import { addPagesCommands } from './commands/pages-commands.ts'
import { addRegistrationsCommands } from './commands/registrations.ts'
import { addReloadCommand } from './commands/reload.ts'
import { reportProblems } from './commands/report-problems.ts'
import { addScopesCommands } from './commands/scopes-commands.ts'
import { type ServeArguments, serveCommand } from './commands/serve.ts'
import { silentExitCode } from './commands/silent-failure.ts'
import { addStorageCommands } from './commands/storage-commands.ts'
import { addTenantsCommands } from './commands/tenants-commands.ts'
import { addUsersCommands } from './commands/users/users-commands.ts'
import { logLevels } from './observability/level.ts'
import { logFormats } from './observability/log-formats.ts'
import { configOption, selectTenant } from './opening/open-configuration.ts'
import { version } from './version.ts'

const ended = 0
const failed = 1
const wrongUsage = 2

function portNumber(text: string): number {
  const port = Number(text)
  if (!/^\d+$/u.test(text) || port > 65_535) throw new InvalidArgumentError('It must be a number from 0 to 65535.')
  return port
}

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

/** Returns the tenant that a command names. Others would ignore it, and change the server itself. */
function tenantFor(grantry: Command, command: Command): string | undefined {
  const { tenant } = grantry.opts<{ readonly tenant?: string }>()
  if (tenant === undefined) return undefined
  let first = command
  while (first.parent !== null && first.parent !== grantry) first = first.parent
  if (ofTenants.includes(first.name())) return tenant
  return command.error(`error: ${first.name()} is about the whole server; remove --tenant`, { exitCode: wrongUsage })
}

function program(): Command {
  const grantry = new Command('grantry')
    .description('An OAuth 2.0 / OpenID Connect token service')
    .version(version)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .option('--tenant <name>', `the tenant whose entries a command changes: ${ofTenants.join(', ')}`)
    .hook('preAction', (grantry, command) => selectTenant(tenantFor(grantry, command)))

  grantry
    .command('serve')
    .description('run the server, or the demo if there is no configuration')
    .option(...configOption)
    .addOption(
      new Option('-p, --port <number>', 'port to listen on (default: the port of a loopback issuer, otherwise 8484)')
        .env('PORT')
        .argParser(portNumber),
    )
    .option('--host <address>', 'address to listen on (default: 127.0.0.1)')
    .addOption(new Option('--log-level <level>', 'lowest level to log (default: info)').choices(logLevels))
    .addOption(
      new Option('--log-format <format>', 'log format (default: text on a terminal, otherwise json)').choices(
        logFormats,
      ),
    )
    .option('--pid-file <file>', 'file for the process id, beside which a socket accepts grantry reload')
    .option('--watch', 'read the configuration again when its files change')
    .action((options: ServeArguments) => serveCommand(options, version))

  addReloadCommand(grantry)
  addClientsCommands(grantry)
  addScopesCommands(grantry)
  addTenantsCommands(grantry)
  addDeclarationCommands(grantry)
  addUsersCommands(grantry)
  addRegistrationsCommands(grantry)
  addAuditCommand(grantry)
  addKeysCommands(grantry)
  addLoginCommand(grantry)
  addPagesCommands(grantry)

  grantry
    .command('hash-secret')
    .argument(
      '[secret]',
      'the secret, or - to read it from standard input (other users of this machine can see arguments); if omitted, a new secret is generated and shown once',
    )
    .description('print the hash to store for the secret of a client or scope')
    // 1 in 64 secrets starts with a dash. As an unknown option, the error would print it.
    .allowUnknownOption()
    .action(async (secret: string | undefined) => {
      process.stdout.write(await hashSecretCommand(secret))
    })

  grantry
    .command('hash-password')
    .description("print the hash to store for a user's password; prompts for it, or reads it from standard input")
    .action(async () => {
      process.stdout.write(await hashPasswordCommand())
    })

  addOperatorCommands(grantry)
  addStorageCommands(grantry)
  addCompletionCommand(grantry)
  return grantry
}

/** `plan --exit-code` ends with 2 when there are changes. A mistyped option must not look like that. */
const usageCodeOf = ([command]: readonly string[]): number => (command === 'plan' ? failed : wrongUsage)

async function run(commandLine: readonly string[]): Promise<number> {
  try {
    await program().parseAsync([...commandLine], { from: 'user' })
    return ended
  } catch (error) {
    const exitCode = silentExitCode(error)
    if (exitCode !== undefined) return exitCode
    // Commander has already printed its message. The exit code is 0 for --help and --version.
    if (error instanceof CommanderError) return error.exitCode === 0 ? ended : usageCodeOf(commandLine)
    reportProblems(error)
    return failed
  }
}

/**
 * Runs the `grantry` command line.
 *
 * @returns the exit code: 0 for success, 1 for an error in the configuration or at startup, 2 for wrong usage. `plan`: 1
 * for wrong usage, too, and 2 with `--exit-code` if there are changes
 */
export async function main(commandLine: readonly string[]): Promise<number> {
  let outputFailure: string | undefined
  // Without a listener, a write error ends the process with a stack trace. EPIPE only means that the reader has closed.
  const onError = ({ code }: NodeJS.ErrnoException): void => {
    if (code !== 'EPIPE') outputFailure ??= code
  }
  process.stdout.on('error', onError)
  const code = await run(commandLine)
  // A failed write is reported one turn of the event loop later.
  await new Promise((resolve) => setImmediate(resolve))
  process.stdout.off('error', onError)
  // `serve` has done its work even if its banner could not be written.
  if (outputFailure === undefined || commandLine[0] === 'serve') return code
  process.stderr.write(`grantry: cannot write to standard output (${outputFailure})\n`)
  return failed
}
