import { text } from 'node:stream/consumers'
import { decodeJwt, type TokenInspection } from '@grantry/core'
import type { Command } from 'commander'
import { configuredStorage } from '../configuration/storage/storage-drivers.ts'
import { counted } from '../counted.ts'
import { errorInFile, errorMessage } from '../error-message.ts'
import { configOption } from '../opening/command-options.ts'
import { requireConfiguration, withProvider } from '../opening/open-configuration.ts'
import { type CheckArguments, checkCommand } from './check.ts'
import { describeClaim, reasonDescriptions } from './claim-descriptions.ts'
import { type InitArguments, initCommand } from './init.ts'
import { print } from './output.ts'
import { type RevokeArguments, revokeCommand } from './revoke.ts'
import { silentFailure } from './silent-failure.ts'

const kinds: Readonly<Record<TokenInspection['kind'], string>> = {
  access_token: 'access token',
  identity_token: 'identity token',
  refresh_token: 'refresh token',
  authorization_code: 'authorization code',
  unknown: 'unknown',
}

const claimLines = (claims: Readonly<Record<string, unknown>>): readonly string[] => {
  const now = Math.floor(Date.now() / 1000)
  return Object.entries(claims).map(([name, value]) => describeClaim(name, value, now))
}

function describeInspection({ kind, format, valid, reason = '', claims }: TokenInspection): string {
  const what = format === undefined ? kinds[kind] : `${kinds[kind]}, ${format === 'jwt' ? 'a JWT' : 'opaque'}`
  const verdict = valid ? 'valid now' : `not valid: ${reasonDescriptions[reason] ?? reason}`
  return [`${what}; ${verdict}`, ...claimLines(claims)].join('\n')
}

/** Describes a token without the store of the server. */
function describeOffline(token: string, why: string): string {
  const decoded = decodeJwt(token)
  if (decoded === undefined) return `Not a JWT. Only the store knows what it is, and it was not read: ${why}`
  return [`A JWT. Its signature and revocation were not checked: ${why}`, ...claimLines(decoded.claims)].join('\n')
}

async function inspect(token: string, config: string | undefined): Promise<string> {
  // A configuration passed with --config must be valid. Without --config, there may be none.
  const passed = config === undefined ? undefined : await requireConfiguration(config)
  try {
    const loaded = passed ?? (await requireConfiguration(config))
    const note =
      loaded.configuration.storage.driver === 'memory'
        ? '\nThe storage is in the memory of the server, which this command cannot read: reference tokens, codes, refresh tokens and revocations are unknown.'
        : ''
    return `${await withProvider(loaded, async (provider) => describeInspection(await provider.inspect(token)))}${note}`
  } catch (cause) {
    // The claims of a JWT are useful even if the store is down.
    return describeOffline(token, errorMessage(cause))
  }
}

/** Runs `grantry token inspect`. It does not spend the token, and the output does not contain it. */
async function tokenInspectCommand(argument: string, { config }: { readonly config?: string }): Promise<string> {
  const token = (argument === '-' ? await text(process.stdin) : argument).trim()
  if (token === '') throw new TypeError('the token is empty; pass a token, or - to read it from standard input')
  return `${await inspect(token, config)}\n`
}

const nothingToDo = {
  memory: 'Nothing to do: the storage is in the memory of the server, which deletes expired items by itself.\n',
  sqlite: 'Nothing to do: the servers delete expired items by themselves, within seconds.\n',
  postgresql: 'Nothing to do: the servers delete expired items by themselves, within seconds.\n',
  redis: 'Nothing to do: Redis deletes expired items by itself.\n',
} as const

/** Runs `grantry purge`: deletes all expired files now. A server deletes them in small steps while it writes. */
async function purgeCommand({ config }: { readonly config?: string }): Promise<string> {
  const { configuration, directory, file } = await requireConfiguration(config)
  const { storage } = configuration
  if (storage.driver !== 'filesystem') return nothingToDo[storage.driver]
  const { driver, description } = await configuredStorage(storage, directory)
  try {
    const { purge } = driver as { readonly purge?: () => Promise<number> }
    const removed = (await purge?.()) ?? 0
    return `Deleted ${counted(removed, 'expired item')} (${description}).\n`
  } catch (cause) {
    throw errorInFile(cause, file)
  } finally {
    await driver.dispose?.()
  }
}

function addRevoke(grantry: Command): void {
  const targets = ['subject', 'client', 'family'] as const
  grantry
    .command('revoke')
    .description(
      'revoke everything issued so far to one subject, one client, one subject at one client, or one family; running servers apply it immediately; exits with 1 if there is no such subject or client',
    )
    .option('-s, --subject <user>', 'everything issued to a user; the `sub` claim, or the name of the user')
    .option('--client <id>', 'everything issued to a client')
    .option('-f, --family <grant_id>', 'everything from one login; the `grant_id` claim of its tokens')
    .option(...configOption)
    .action(async (options: RevokeArguments, command: Command) => {
      const named = targets.filter((target) => options[target] !== undefined)
      // An unset shell variable becomes an empty argument.
      const isOne = named.length === 1 || (named.length === 2 && options.family === undefined)
      if (!isOne || named.some((target) => options[target] === '')) {
        command.error('error: pass one of --subject, --client and --family, or --subject and --client', { exitCode: 2 })
      }
      const { text, isFound } = await revokeCommand(options)
      print(text)
      if (!isFound) throw silentFailure()
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
