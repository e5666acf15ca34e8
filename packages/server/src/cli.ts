import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { isAlreadyTold } from './commands/already-told.ts'
import { configOption } from './commands/config-option.ts'
import { hashSecretCommand } from './commands/hash-secret.ts'
import { addKeysCommands } from './commands/keys.ts'
import { addOperatorCommands } from './commands/operator-commands.ts'
import { type ServeArguments, serveCommand } from './commands/serve.ts'
import { messageOf } from './message-of.ts'
import { logLevels } from './observability/level.ts'
import { logFormats } from './observability/log-formats.ts'
import { version } from './version.ts'

const ended = 0
const failed = 1
const wrongUsage = 2

function portNumber(text: string): number {
  const port = Number(text)
  if (!/^\d+$/u.test(text) || port > 65_535) throw new InvalidArgumentError('It must be a number from 0 to 65535.')
  return port
}

function program(): Command {
  const grantry = new Command('grantry')
    .description('An OAuth 2.0 / OpenID Connect token service')
    .version(version)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })

  grantry
    .command('serve')
    .description('run the server; without a configuration, the demo')
    .option(...configOption)
    .addOption(
      new Option('-p, --port <number>', 'port to listen on (default: the port of a loopback issuer, else 8484)')
        .env('PORT')
        .argParser(portNumber),
    )
    .option('--host <address>', 'address to listen on (default: 127.0.0.1)')
    .addOption(new Option('--log-level <level>', 'least urgent level to log (default: info)').choices(logLevels))
    .addOption(
      new Option('--log-format <format>', 'form of the log (default: text on a terminal, else json)').choices(
        logFormats,
      ),
    )
    .action((options: ServeArguments) => serveCommand(options, version))

  addKeysCommands(grantry)

  grantry
    .command('hash-secret')
    .argument(
      '[secret]',
      'the secret, or - to send it to standard input: other users of this machine see arguments; without one, a new one is made and shown once',
    )
    .description('what to store for the secret of a client or scope')
    // One secret of 64 begins with a dash; as an unknown option it would be repeated in an error.
    .allowUnknownOption()
    .action(async (secret: string | undefined) => {
      process.stdout.write(await hashSecretCommand(secret))
    })

  grantry
    .command('hash-password')
    .description("what to store for a user's password, which is asked for, or read from standard input")
    .action(async () => {
      const { hashPasswordCommand } = await import('./commands/hash-password.ts')
      process.stdout.write(await hashPasswordCommand())
    })

  addOperatorCommands(grantry)
  return grantry
}

async function run(commandLine: readonly string[]): Promise<number> {
  try {
    await program().parseAsync([...commandLine], { from: 'user' })
    return ended
  } catch (error) {
    if (isAlreadyTold(error)) return failed
    // Commander has printed its own message; asked for help, it ends with 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? ended : wrongUsage
    process.stderr.write(`grantry: ${messageOf(error)}\n`)
    return failed
  }
}

/**
 * The command line of `grantry`.
 *
 * @returns the exit code: 0 ended as asked, 1 a mistake in the configuration or at start, 2 wrong usage
 */
export async function main(commandLine: readonly string[]): Promise<number> {
  let outputFailure: string | undefined
  // With nobody to hear it, it would end the process with a stack. A reader that is gone wants no more, which is no failure.
  const onError = ({ code }: NodeJS.ErrnoException): void => {
    if (code !== 'EPIPE') outputFailure ??= code
  }
  process.stdout.on('error', onError)
  const code = await run(commandLine)
  // A write that fails is told a turn later.
  await new Promise((resolve) => setImmediate(resolve))
  process.stdout.off('error', onError)
  // A server whose banner was lost has served.
  if (outputFailure === undefined || commandLine[0] === 'serve') return code
  process.stderr.write(`grantry: standard output cannot be written (${outputFailure})\n`)
  return failed
}
