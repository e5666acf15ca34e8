import { refusalOf, type UserManager } from '@grantry/administration'
import type { Provider, RevocationTarget } from '@grantry/core'
import { registrations } from '@grantry/plugins/registration'
import { revokeAndSignOut, withdrawAccess } from '../administration/revoke-and-sign-out.ts'
import type { LoadedConfiguration } from '../configuration/load.ts'
import { isUserList } from '../configuration/users-schema.ts'
import { counted } from '../counted.ts'
import { errorMessage } from '../error-message.ts'
import { withAdministration } from '../opening/open-administration.ts'
import { assertSharedStorage, requireConfiguration, withProvider } from '../opening/open-configuration.ts'
import { sanitizeText } from '../sanitize-text.ts'
import { onlyUser } from '../users/known-users.ts'
import { shownUser, usersNamed } from './users/find-subject.ts'

export interface RevokeArguments {
  readonly config?: string
  readonly subject?: string
  readonly client?: string
  readonly family?: string
}

/** What to print, and whether the command found what it revoked. */
export interface RevokeResult {
  readonly text: string
  readonly isFound: boolean
}

const isList = <T extends object>(value: T): value is Extract<T, readonly unknown[]> => Array.isArray(value)

/**
 * The target of the command, and whether it was found: without a known user or client, the command reports no success.
 */
interface Found {
  readonly target: RevocationTarget
  readonly problem?: string | undefined
  /** Whether no part of the configuration can know the client. */
  readonly isUncertain?: boolean
  /** Why the look-up failed, if it did. */
  readonly failure?: string
  /** The user, for a sentence. */
  readonly user?: string
}

/**
 * Whether users are neither in the configuration nor in the storage. Tokens then have users of plugins, which no
 * command can list.
 */
const hasNoUsers = ({ configuration: { users, administration } }: LoadedConfiguration): boolean =>
  isUserList(users) && users.length === 0 && !administration

/** @throws RefusedError if several users have the name */
async function findSubject(subOrName: string, loaded: LoadedConfiguration, provider: Provider): Promise<Found> {
  const look = (stored?: UserManager) => usersNamed(subOrName, { loaded, provider, stored })
  const { found: matches, whyUnknown } = loaded.configuration.administration
    ? await withAdministration(loaded, ({ users }) => look(users))
    : await look()
  // A `sub` comes before a name: another user with this name must not delay what is urgent.
  const bySub = matches.find(({ sub }) => sub === subOrName)
  if (bySub === undefined && matches.length === 0) {
    return { target: { subject: subOrName }, problem: hasNoUsers(loaded) ? undefined : whyUnknown }
  }
  const user = bySub ?? onlyUser(subOrName, matches, whyUnknown)
  return { target: { subject: user.sub }, user: shownUser(user) }
}

const isStored = (clientId: string, loaded: LoadedConfiguration): Promise<boolean> =>
  withAdministration(loaded, ({ clients }) => clients.has(clientId))

async function isRegistered(clientId: string, provider: Provider): Promise<boolean> {
  return provider.has(registrations) && (await provider.use(registrations).find(clientId)) !== undefined
}

/** Whether the id can be that of a client with a metadata document, which only its own host knows. */
const canHaveDocument = (clientId: string, { metadata }: Provider): boolean =>
  metadata.client_id_metadata_document_supported === true && /^https?:/u.test(clientId)

async function whyNoClient(
  clientId: string,
  loaded: LoadedConfiguration,
  provider: Provider,
): Promise<string | undefined> {
  const { clients, administration } = loaded.configuration
  if (administration && (await isStored(clientId, loaded))) return undefined
  if (await isRegistered(clientId, provider)) return undefined
  if (!isList(clients)) {
    const isKnown = Boolean(await clients.find(clientId))
    return isKnown ? undefined : `clients.find() does not know ${clientId}; check the spelling`
  }
  const isKnown = clients.some((client) => client.clientId === clientId)
  return isKnown ? undefined : `no client ${clientId} is configured; check the spelling`
}

async function findClient(clientId: string, loaded: LoadedConfiguration, provider: Provider): Promise<Found> {
  const target = { clientId }
  const problem = await whyNoClient(clientId, loaded, provider)
  return problem !== undefined && canHaveDocument(clientId, provider)
    ? { target, isUncertain: true }
    : { target, problem }
}

async function find(options: RevokeArguments, loaded: LoadedConfiguration, provider: Provider): Promise<Found> {
  const { subject, client, family = '' } = options
  const user = subject === undefined ? undefined : await findSubject(subject, loaded, provider)
  const application = client === undefined ? undefined : await findClient(client, loaded, provider)
  if (user === undefined || application === undefined) return user ?? application ?? { target: { family } }
  return {
    ...application,
    ...user,
    target: { ...user.target, ...application.target },
    problem: user.problem ?? application.problem,
  }
}

/** The target by the texts of the command. */
function targetOf({ subject, client = '' }: RevokeArguments): RevocationTarget {
  if (subject === undefined) return { clientId: client }
  return client === '' ? { subject } : { subject, clientId: client }
}

/** A failed look-up does not prevent a revocation, which can be urgent. */
async function findOrReport(options: RevokeArguments, loaded: LoadedConfiguration, provider: Provider): Promise<Found> {
  try {
    return await find(options, loaded, provider)
  } catch (cause) {
    if (refusalOf(cause) !== undefined) throw cause
    return { target: targetOf(options), failure: errorMessage(cause) }
  }
}

function success(
  { subject, client, family }: RevokeArguments,
  { user = subject, isUncertain }: Found,
  ended: string,
): string {
  if (subject !== undefined && client !== undefined) {
    const end = isUncertain ? ', if it exists' : ''
    return `Revoked all access that the subject ${user} has given to the client ${client} so far${end}: ${ended}, and tokens that no list shows. The client can ask the user again.`
  }
  if (subject !== undefined) {
    return `Revoked everything issued so far to the subject ${user}, and ended ${ended}. The user can log in again.`
  }
  if (client !== undefined) {
    const end = isUncertain ? ', if it exists.' : '. The client can request new tokens.'
    return `Revoked everything issued so far to the client ${client}${end}`
  }
  return `Revoked the family ${family} and all its tokens, if it exists.`
}

/** Revokes the target, and counts the listed sessions and authorizations that ended, for a sentence. */
async function endAccess(target: RevocationTarget, provider: Provider) {
  if ('subject' in target && target.clientId !== undefined) {
    const { authorizations, consents } = await withdrawAccess(target, provider)
    const ended = `${counted(authorizations, 'authorization')}, ${counted(consents, 'consent')}`
    return { ended, hasEnded: authorizations + consents > 0 }
  }
  const sessions = await revokeAndSignOut(target, provider)
  return { ended: counted(sessions, 'session'), hasEnded: sessions > 0 }
}

/**
 * Runs `grantry revoke` through the shared store. Running servers see the revocation at their next read, without a
 * restart. An unknown name is revoked, too: its user or client may have been removed from the configuration.
 */
export async function revokeCommand(options: RevokeArguments): Promise<RevokeResult> {
  const loaded = await requireConfiguration(options.config)
  assertSharedStorage(loaded, 'restart the server to invalidate everything')
  return withProvider(loaded, async (provider) => {
    const outcome = await findOrReport(options, loaded, provider)
    const { target, problem, failure } = outcome
    const { ended, hasEnded } = await endAccess(target, provider)
    const isFound = (problem === undefined && failure === undefined) || hasEnded
    if (isFound) return { text: `${sanitizeText(success(options, outcome, ended))}\n`, isFound: true }
    const name = [options.subject, options.client].filter((named) => named !== undefined).join(' at ')
    const first =
      failure === undefined ? `Nothing was found to revoke: ${problem}` : `${name} could not be looked up (${failure})`
    const again =
      failure !== undefined && options.subject !== undefined ? ' For the name of a user, run the command again.' : ''
    const second = `If anything was ever issued to ${name}, it is refused from now on.${again}`
    return { text: `${sanitizeText(`${first}.`)}\n${sanitizeText(second)}\n`, isFound: false }
  })
}
