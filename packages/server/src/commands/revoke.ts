import type { Plugins, Provider, RevocationTarget } from '@grantry/core'
import type { AuthorizationEndpointPlugin } from '@grantry/plugins/authorization-endpoint'
import { assertSharedStorage, requireConfiguration, withProvider } from './configuration.ts'

export interface RevokeArguments {
  readonly config?: string
  readonly subject?: string
  readonly client?: string
  readonly family?: string
}

function targetOf({ subject, client, family = '' }: RevokeArguments): RevocationTarget {
  if (subject !== undefined) return { subject }
  return client !== undefined ? { clientId: client } : { family }
}

function confirmation({ subject, client, family }: RevokeArguments): string {
  if (subject !== undefined)
    return `Revoked everything issued so far to the subject ${subject}, and ended the sessions. The user can log in again.`
  if (client !== undefined)
    return `Revoked everything issued so far to the client ${client}. The client can request new tokens.`
  return `Revoked the family ${family} and all its tokens.`
}

const keepsSessions = (plugin: object): plugin is AuthorizationEndpointPlugin =>
  'name' in plugin && plugin.name === 'authorization-endpoint' && 'sessions' in plugin

/** Returns those among nested lists of plugins that keep sessions. */
function withSessions(plugins: unknown): readonly AuthorizationEndpointPlugin[] {
  if (Array.isArray(plugins)) return plugins.flatMap(withSessions)
  return typeof plugins === 'object' && plugins !== null && keepsSessions(plugins) ? [plugins] : []
}

/** Ends the sessions of a user. A session that survived would get new tokens. */
async function signOut(sub: string, provider: Provider, plugins: Plugins): Promise<void> {
  await Promise.all(withSessions(plugins).map(({ sessions }) => sessions.endAll(provider, sub)))
}

/** Runs `grantry revoke` through the shared store. Running servers see it at their next read, without a restart. */
export async function revokeCommand(given: RevokeArguments): Promise<string> {
  const loaded = await requireConfiguration(given.config)
  const { clients, users } = loaded.configuration
  assertSharedStorage(loaded, 'restart the server to invalidate everything')
  await withProvider(loaded, async (provider, plugins) => {
    await provider.revoke(targetOf(given))
    if (given.subject !== undefined) await signOut(given.subject, provider, plugins)
  })
  const { subject, client } = given
  const unknownClient =
    client !== undefined && Array.isArray(clients) && !clients.some(({ clientId }) => clientId === client)
  const unknownUser =
    subject !== undefined && Array.isArray(users) && users.length > 0 && !users.some(({ sub }) => sub === subject)
  const note = unknownClient
    ? `Note: no client ${client} is configured; check the spelling.\n`
    : unknownUser
      ? `Note: no user with the sub ${subject} is configured; pass the sub, not the username.\n`
      : ''
  return `${confirmation(given)}\n${note}`
}
