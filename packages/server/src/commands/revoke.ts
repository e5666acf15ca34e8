import type { RevocationTarget } from '@grantry/core'
import { isUserList } from '../administration/check-user.ts'
import { withAdministration } from '../administration/open-administration.ts'
import { revokeAndSignOut } from '../administration/revoke-and-sign-out.ts'
import type { LoadedConfiguration } from '../configuration/load.ts'
import { errorMessage } from '../error-message.ts'
import { hostUsers, isUserDatabase, namesDriver } from '../users/user-databases.ts'
import { assertSharedStorage, requireConfiguration, withProvider } from './configuration.ts'

export interface RevokeArguments {
  readonly config?: string
  readonly subject?: string
  readonly client?: string
  readonly family?: string
}

/** What to print, and whether the command found what it revoked. */
export interface RevokeResult {
  readonly text: string
  readonly found: boolean
}

function targetOf({ subject, client, family = '' }: RevokeArguments): RevocationTarget {
  if (subject !== undefined) return { subject }
  return client !== undefined ? { clientId: client } : { family }
}

const isList = <T extends object>(value: T): value is Extract<T, readonly unknown[]> => Array.isArray(value)

/** Returns a user in the storage with this `sub`, or with this name. */
async function storedUser(subOrName: string, loaded: LoadedConfiguration): Promise<string | undefined> {
  if (!loaded.configuration.administration) return undefined
  return withAdministration(loaded, async ({ users }) =>
    (await users.has(subOrName)) ? subOrName : (await users.find(subOrName))?.id,
  )
}

/** Returns why no user has this `sub`; `undefined` if one has it, or if the command cannot know it. */
async function whyNoUser(sub: string, loaded: LoadedConfiguration): Promise<string | undefined> {
  const { users, administration } = loaded.configuration
  if (!isUserList(users)) {
    const service = await hostUsers(users, loaded.directory)
    const active = await Promise.resolve(service.isActive?.(sub)).finally(async () => {
      if (namesDriver(users) && isUserDatabase(service)) await service.close()
    })
    return active !== false ? undefined : `users.isActive() does not know the sub ${sub}, or the user is inactive`
  }
  if ((users.length === 0 && !administration) || users.some((user) => user.sub === sub)) return undefined
  const stored = await storedUser(sub, loaded)
  if (stored === sub) return undefined
  const named = users.find(({ username }) => username === sub)?.sub ?? stored
  const correct = named === undefined ? 'pass the sub, not the username' : `${sub} is the username of ${named}`
  return `no user with the sub ${sub} is configured; ${correct}`
}

const isStored = (clientId: string, loaded: LoadedConfiguration): Promise<boolean> =>
  withAdministration(loaded, ({ clients }) => clients.has(clientId))

async function whyNoClient(clientId: string, loaded: LoadedConfiguration): Promise<string | undefined> {
  const { clients, administration } = loaded.configuration
  if (administration && (await isStored(clientId, loaded))) return undefined
  if (!isList(clients)) {
    const isKnown = Boolean(await clients.find(clientId))
    return isKnown ? undefined : `clients.find() does not know ${clientId}; check the spelling`
  }
  const isKnown = clients.some((client) => client.clientId === clientId)
  return isKnown ? undefined : `no client ${clientId} is configured; check the spelling`
}

/** A failed look-up does not prevent a revocation, which can be urgent. */
async function whyUnknown(
  { subject, client }: RevokeArguments,
  loaded: LoadedConfiguration,
): Promise<string | undefined> {
  try {
    if (subject !== undefined) return await whyNoUser(subject, loaded)
    return client === undefined ? undefined : await whyNoClient(client, loaded)
  } catch (cause) {
    return `it could not be looked up (${errorMessage(cause)})`
  }
}

const sessionsOf = (count: number): string => `${count} ${count === 1 ? 'session' : 'sessions'}`

function success({ subject, client, family }: RevokeArguments, ended: number): string {
  if (subject !== undefined) {
    return `Revoked everything issued so far to the subject ${subject}, and ended ${sessionsOf(ended)}. The user can log in again.`
  }
  if (client !== undefined) {
    return `Revoked everything issued so far to the client ${client}. The client can request new tokens.`
  }
  return `Revoked the family ${family} and all its tokens, if it exists.`
}

/**
 * Runs `grantry revoke` through the shared store. Running servers see it at their next read, without a restart. An
 * unknown name is revoked too: its user or client may have been removed from the configuration.
 */
export async function revokeCommand(given: RevokeArguments): Promise<RevokeResult> {
  const loaded = await requireConfiguration(given.config)
  assertSharedStorage(loaded, 'restart the server to invalidate everything')
  const problem = await whyUnknown(given, loaded)
  const ended = await withProvider(loaded, (provider) => revokeAndSignOut(targetOf(given), provider))
  if (problem === undefined || ended > 0) return { text: `${success(given, ended)}\n`, found: true }
  const name = given.subject ?? given.client
  const text = `Nothing was found to revoke: ${problem}.\nIf anything was ever issued to ${name}, it is refused from now on.\n`
  return { text, found: false }
}
