import type { Command } from 'commander'
import { alreadyTold } from './already-told.ts'
import { type CheckArguments, checkCommand } from './check.ts'
import { configOption } from './config-option.ts'
import { type InitArguments, initCommand } from './init.ts'
import { purgeCommand } from './purge.ts'
import { type RevokeArguments, revokeCommand } from './revoke.ts'
import { tokenInspectCommand } from './token-inspect.ts'

const print = (text: string): void => {
  process.stdout.write(text)
}

function addRevoke(grantry: Command): void {
  const targets = ['subject', 'client', 'family'] as const
  grantry
    .command('revoke')
    .description(
      'refuse everything that was issued so far to one subject, client or family; running servers follow at once',
    )
    .option('-s, --subject <sub>', "everything of a user; the claim `sub`, not the user's name")
    .option('--client <id>', 'everything of a client')
    .option('-f, --family <grant_id>', 'everything of one login; the claim `grant_id` of its tokens')
    .option(...configOption)
    .action(async (options: RevokeArguments, command: Command) => {
      const named = targets.filter((target) => options[target] !== undefined)
      // Empty is what a shell makes of an unset variable.
      if (named.length !== 1 || named.some((target) => options[target] === '')) {
        command.error('error: give exactly one of --subject, --client and --family', { exitCode: 2 })
      }
      print(await revokeCommand(options))
    })
}

/** Adds what an operator does beside the running server. */
export function addOperatorCommands(grantry: Command): void {
  grantry
    .command('init')
    .argument('[dir]', 'where; made when it is absent', '.')
    .description('write a commented configuration with new secrets, which are shown once; nothing is ever overwritten')
    .option('--issuer <url>', 'the URL of the server as clients see it (default: http://127.0.0.1:8484)')
    .action((directory: string, options: InitArguments) => print(initCommand(directory, options)))

  grantry
    .command('check')
    .description('the doctor: look at the configuration and the storage; ends with 1 when it finds an error')
    .option(...configOption)
    .option('--json', 'findings as JSON')
    .action(async (options: CheckArguments) => {
      const { text, failed } = await checkCommand(options)
      print(text)
      if (failed) throw alreadyTold()
    })

  grantry
    .command('token')
    .description('look at tokens')
    .command('inspect')
    .argument('<token>', 'the token, or - to send it to standard input: other users of this machine see arguments')
    .description('explain a token: what it is, what it says, and whether it is accepted now')
    // One token of 64 begins with a dash; as an unknown option it would be repeated in an error.
    .allowUnknownOption()
    .option(...configOption)
    .action(async (token: string, options: { readonly config?: string }) =>
      print(await tokenInspectCommand(token, options)),
    )

  addRevoke(grantry)

  grantry
    .command('purge')
    .description('remove what has expired now, where the storage does not do so by itself')
    .option(...configOption)
    .action(async (options: { readonly config?: string }) => print(await purgeCommand(options)))
}
