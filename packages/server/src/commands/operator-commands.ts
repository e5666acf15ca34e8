import type { Command } from 'commander'
import { configOption } from '../opening/open-configuration.ts'
import { type CheckArguments, checkCommand } from './check.ts'
import { type InitArguments, initCommand } from './init.ts'
import { purgeCommand } from './purge.ts'
import { type RevokeArguments, revokeCommand } from './revoke.ts'
import { silentFailure } from './silent-failure.ts'
import { tokenInspectCommand } from './token-inspect.ts'

const print = (text: string): void => {
  process.stdout.write(text)
}

function addRevoke(grantry: Command): void {
  const targets = ['subject', 'client', 'family'] as const
  grantry
    .command('revoke')
    .description(
      'revoke everything issued so far to one subject, client or family; running servers apply it immediately; exits with 1 if there is no such subject or client',
    )
    .option('-s, --subject <user>', 'everything issued to a user; the `sub` claim, or the name of the user')
    .option('--client <id>', 'everything issued to a client')
    .option('-f, --family <grant_id>', 'everything from one login; the `grant_id` claim of its tokens')
    .option(...configOption)
    .action(async (options: RevokeArguments, command: Command) => {
      const named = targets.filter((target) => options[target] !== undefined)
      // An unset shell variable becomes an empty argument.
      if (named.length !== 1 || named.some((target) => options[target] === '')) {
        command.error('error: pass exactly one of --subject, --client and --family', { exitCode: 2 })
      }
      const { text, found } = await revokeCommand(options)
      print(text)
      if (!found) throw silentFailure()
    })
}

/** Adds the commands that an operator runs next to the server. */
export function addOperatorCommands(grantry: Command): void {
  grantry
    .command('init')
    .argument('[dir]', 'target directory; created if it does not exist', '.')
    .description('create a commented configuration with new secrets, which are shown once; never overwrites a file')
    .option('--issuer <url>', 'the URL of the server as seen by clients (default: http://127.0.0.1:8484)')
    .option(
      '--sign-in [name]',
      'with a sign-in, a web application and a first user of this name; without a name, asks for it (alice without a terminal)',
    )
    .action(async (directory: string, options: InitArguments) => print(await initCommand(directory, options)))

  grantry
    .command('check')
    .description('check the configuration and the storage for problems (the doctor); exits with 1 if it finds an error')
    .option(...configOption)
    .option('--json', 'print findings as JSON')
    .action(async (options: CheckArguments) => {
      const { text, failed } = await checkCommand(options)
      print(text)
      if (failed) throw silentFailure()
    })

  grantry
    .command('token')
    .description('inspect tokens')
    .command('inspect')
    .argument(
      '<token>',
      'the token, or - to read it from standard input (other users of this machine can see arguments)',
    )
    .description("show a token's type and claims, and whether it is valid now")
    // 1 in 64 tokens starts with a dash. As an unknown option, the error would print it.
    .allowUnknownOption()
    .option(...configOption)
    .action(async (token: string, options: { readonly config?: string }) =>
      print(await tokenInspectCommand(token, options)),
    )

  addRevoke(grantry)

  grantry
    .command('purge')
    .description('delete expired items now, if the storage does not do so by itself')
    .option(...configOption)
    .action(async (options: { readonly config?: string }) => print(await purgeCommand(options)))
}
