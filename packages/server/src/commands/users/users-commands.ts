import { kinds, type ResetResult, resetSecondFactors } from '@grantry/administration'
import { type Command, InvalidArgumentError } from 'commander'
import { revokeAndSignOut } from '../../administration/revoke-and-sign-out.ts'
import { counted } from '../../counted.ts'
import { secondFactors } from '../../plugin-keys.ts'
import { sanitizeText } from '../../sanitize-text.ts'
import { type CommonArguments, json } from '../entry-commands.ts'
import { entryCommands, groupCommands, withChanges, withFilter, withMembers } from '../kind-commands.ts'
import { print } from '../output.ts'
import { addUser, editUser, ofUsers, setPassword } from './change-users.ts'
import { runOnKnownUser, shownUser } from './find-subject.ts'
import { endInvitation, inviteByMail, listInvitations } from './invitations.ts'
import { listUsers, searchUsers, showUser } from './list-users.ts'
import { noPasswordOption } from './read-password.ts'
import {
  endAuthorization,
  endSessions,
  listAuthorizations,
  listConsents,
  listSessions,
  revokeConsent,
} from './user-sessions.ts'

const nouns = { apps: 'app', passkeys: 'passkey', recoveryCodes: 'recovery code', sessions: 'session' } as const

/** Returns a text such as `1 app, 2 passkeys`. Factors of the configuration may not report numbers. */
function removedText({ removed }: ResetResult): string {
  const parts = Object.entries(removed).map(([kind, count]) => counted(count, nouns[kind as keyof typeof nouns]))
  return parts.length === 0 ? 'what the functions of the configuration remove, which is not counted' : parts.join(', ')
}

/** Calls the functions of the configuration that remove second factors and passkeys. */
async function resetFactors(subOrName: string, options: CommonArguments): Promise<void> {
  const { user, done } = await runOnKnownUser(subOrName, options, async ({ user, provider, administration }) => {
    const done = await resetSecondFactors(user.sub, {
      secondFactors: provider.has(secondFactors) ? provider.use(secondFactors) : undefined,
      revoke: (target) => revokeAndSignOut(target, provider),
      audited: administration.audited,
    })
    return { user, done }
  })
  const ended = counted(done.endedSessions, nouns.sessions)
  const sentence = `Removed of the user ${shownUser(user)}: ${removedText(done)}. Ended ${ended}, and revoked all tokens.`
  print(options.json ? json({ sub: user.sub, reset: true, ...done }) : `${sanitizeText(sentence)}\n`)
}

function pageSize(text: string): number {
  const size = Number(text)
  if (!/^\d{1,6}$/u.test(text) || size === 0) throw new InvalidArgumentError('It must be a number from 1 to 999999.')
  return size
}

const withPages = (command: Command): Command =>
  command
    .option('--limit <number>', 'number of users', pageSize, 100)
    .option('--after <position>', 'continue where the last list ended')

const withUser = (command: Command): Command =>
  withMembers(
    command.option('--claim <name=text...>', 'claims with text, such as email=alice@example.com'),
    [],
    '\'claims={"age":42}\'',
  )

/** Returns functions that add a command to a group: one for the group, one for a user. */
const commandsOf = (group: Command) =>
  groupCommands(group, ['<user>', 'the sub of the user, or the name'], (command) =>
    // A password as an excess argument must not be ignored.
    command.allowExcessArguments(false).addOption(noPasswordOption()),
  )

function addSessionsCommands(users: Command): void {
  const sessions = commandsOf(users.command('sessions').description('the browsers in which a user is signed in'))
  sessions.ofEntry('list', 'list the sessions of a user').action(listSessions)
  sessions
    .ofEntry('end', 'end a session of a user, or all of them')
    .argument('[sid]', 'the session, as listed; without it, all')
    .action(endSessions)
}

function addConsentsCommands(users: Command): void {
  const consents = commandsOf(users.command('consents').description('the consents of a user to the access of clients'))
  consents.ofEntry('list', 'list the clients that a user has consented to').action(listConsents)
  consents
    .ofEntry('revoke', 'let a client ask the user again')
    .argument('<client>', 'the client id')
    .action(revokeConsent)
}

function addAuthorizationsCommands(users: Command): void {
  const authorizations = commandsOf(
    users.command('authorizations').description('the installations of clients that have lasting access for a user'),
  )
  authorizations.ofEntry('list', 'list the authorizations of a user, the newest first').action(listAuthorizations)
  authorizations
    .ofEntry('end', 'end one authorization, and no other one of the same client')
    .argument('<family>', 'the family, as listed')
    .action(endAuthorization)
}

function addSecondFactorsCommands(users: Command): void {
  const factors = commandsOf(users.command('second-factors').description('the second factors and passkeys of a user'))
  factors
    .ofEntry('reset', 'remove the second factors and passkeys of a user, end all sessions and revoke all tokens')
    .action(resetFactors)
}

function addInvitationCommands(users: Command): void {
  const { command } = commandsOf(users)
  command('invite', 'invite a user by mail to create an account')
    .argument('<address>', 'the mail address, which only the invited person can use')
    .option('--name <name>', 'the claim name of the account')
    .option('--claim <name=text...>', 'claims with text, such as department=sales')
    .option('--locale <language>', 'the language of the mail, such as de')
    .action(inviteByMail)
  const group = commandsOf(users.command('invitations').description('invitations that no user has accepted yet'))
  group.command('list', 'list the invitations').action(listInvitations)
  group
    .command('withdraw', 'withdraw an invitation, so that its link no longer works')
    .argument('<id>', 'the id of the invitation, as listed')
    .action(endInvitation)
}

/** Adds `grantry users`. Running servers see the changes within seconds. */
export function addUsersCommands(grantry: Command): void {
  const group = grantry.command('users').description('add and change users while the service runs')
  const { command, ofEntry } = commandsOf(group)
  const users = entryCommands(ofUsers, { command, ofEntry })
  withFilter(withPages(command('list', 'list the users in the storage by their subs')), kinds.user.heading)
    .option('--disabled', 'only those who are disabled')
    .action(listUsers)
  withPages(
    command('search', 'find users by the start of their names').argument('<name>', 'the start of the name'),
  ).action(searchUsers)
  ofEntry('show', 'show a user').action(showUser)
  withUser(command('add', 'add a user; prompts for the password, or reads it from standard input'))
    .argument('<name>', 'the name for the sign-in')
    .option('--sub <id>', 'the id in tokens, which never changes (default: a new one)')
    .option('--no-password', 'a user who cannot sign in with a password')
    .action(addUser)
  const edited = withUser(ofEntry('edit', 'change members of a user'))
    .option('--username <name>', 'the new name for the sign-in')
    .option('--unset-claim <names...>', 'claims to remove')
  withChanges(edited, 'users').action(editUser)
  ofEntry(
    'set-password',
    'set a password, end all sessions and revoke all tokens; prompts for it, or reads standard input',
  ).action(setPassword)
  users.disable('refuse the sign-in of a user, end all sessions and revoke all tokens')
  users.enable('let a user sign in again')
  users.remove('remove a user, end all sessions and revoke all tokens')
  addInvitationCommands(group)
  addSessionsCommands(group)
  addConsentsCommands(group)
  addAuthorizationsCommands(group)
  addSecondFactorsCommands(group)
}
