import { type Registrations, registrations } from '@grantry/plugins/registration'
import { type Command, InvalidArgumentError } from 'commander'
import { configOption } from '../opening/command-options.ts'
import { type CommandAdministration, withAdministration } from '../opening/open-administration.ts'
import { assertSharedStorage, requireConfiguration, withProvider } from '../opening/open-configuration.ts'
import { jsonText, sanitizeText } from '../sanitize-text.ts'
import { print, timeOf } from './output.ts'
import { duration, shownSecret } from './shown-secret.ts'
import { silentFailure } from './silent-failure.ts'

interface RegistrationArguments {
  readonly config?: string
  readonly json?: true
}

type Audited = CommandAdministration['audited']

/** Without an administration, there is no trail. */
const unaudited: Audited = (_change, make) => make()

/** Calls `use` with the registrations of a configuration, and the function that records a change. */
async function run<T>(
  { config }: RegistrationArguments,
  use: (registrations: Registrations, audited: Audited) => Promise<T>,
): Promise<T> {
  const loaded = await requireConfiguration(config)
  assertSharedStorage(loaded, 'its registrations are lost with it')
  return withProvider(loaded, async (provider) => {
    if (provider.has(registrations)) {
      const functions = provider.use(registrations)
      if (!loaded.configuration.administration) return use(functions, unaudited)
      return withAdministration(loaded, ({ audited }) => use(functions, audited))
    }
    throw new TypeError(`${loaded.file}: clients cannot register themselves; add { "name": "registration" } to plugins`)
  })
}

function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,5}$/u.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number of at least 1.')
}

interface TokenArguments extends RegistrationArguments {
  readonly budget: number
  readonly expiresIn: number
}

async function issueToken(options: TokenArguments): Promise<void> {
  const { budget, expiresIn: lifetime } = options
  const issued = await run(options, ({ issueToken: issue }, audited) => {
    const change = { action: 'client_registration_token_issued', id: 'registrations', after: { budget, lifetime } }
    return audited(change, () => issue({ budget, lifetime }))
  })
  const { token, id, expiresAt } = issued
  if (options.json) return print(`${jsonText({ token, id, budget, expiresAt: timeOf(expiresAt) })}\n`)
  const many = budget === 1 ? 'one client' : `${budget} clients`
  print(`It registers ${many} until ${timeOf(expiresAt)}. End it with: grantry registrations revoke-token ${id}\n`)
  print(shownSecret(token))
}

/** Prints the outcome; fails if nothing was found. */
function report(isFound: boolean, done: string, missing: string): void {
  print(`${sanitizeText(isFound ? done : missing)}\n`)
  if (!isFound) throw silentFailure()
}

async function show(clientId: string, options: RegistrationArguments): Promise<void> {
  const client = await run(options, ({ find }) => find(clientId))
  if (client === undefined) return report(false, '', `No registered client has the id ${clientId}; it may have ended.`)
  const { metadata, issuedAt, used, until } = client
  print(`${jsonText({ ...metadata, issuedAt: timeOf(issuedAt), used, until: timeOf(until) })}\n`)
}

export function addRegistrationsCommands(grantry: Command): void {
  const group = grantry
    .command('registrations')
    .description('let clients register themselves, and end their registrations')
  const command = (name: string, description: string): Command =>
    group
      .command(name)
      .description(description)
      .option(...configOption)

  command('issue-token', 'issue an initial access token, with which clients can be registered; shows it once')
    .requiredOption('--budget <number>', 'number of clients that can be registered with it', wholeNumber)
    .requiredOption('--expires-in <time>', 'time in which it can be used, such as 7d or 12h', duration)
    .option('--json', 'print JSON')
    .action(issueToken)
  command('revoke-token', 'end an initial access token; its clients stay')
    .argument('<id>', 'the id that was shown with the token')
    .action(async (id: string, options: RegistrationArguments) => {
      const isFound = await run(options, ({ revokeToken }, audited) =>
        audited({ action: 'client_registration_token_revoked', id }, () => revokeToken(id)),
      )
      report(isFound, 'Ended the token.', 'No token has this id; it may have ended.')
    })
  command('show', 'show a registered client').argument('<id>', 'the id of the client').action(show)
  command('remove', 'remove a registered client; its tokens are refused')
    .argument('<id>', 'the id of the client')
    .action(async (clientId: string, options: RegistrationArguments) => {
      const isFound = await run(options, ({ remove }, audited) =>
        audited({ action: 'client_registration_removed', id: clientId }, () => remove(clientId)),
      )
      const missing = `No registered client has the id ${clientId}; it may have ended.`
      report(isFound, `Removed the client ${clientId}.`, missing)
    })
}
