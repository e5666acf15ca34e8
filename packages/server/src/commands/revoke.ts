import type { RevocationTarget } from '@grantry/core'
import { assertShared, configured, withProvider } from './configured.ts'

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

function doneWith({ subject, client, family }: RevokeArguments): string {
  if (subject !== undefined)
    return `Everything that was issued to the subject ${subject} so far is refused from now on; a new login works.`
  if (client !== undefined)
    return `Everything that was issued to the client ${client} so far is refused from now on; what it gets next works.`
  return `Everything that belongs to the family ${family} is refused from now on.`
}

/** `grantry revoke`: through the store that the servers share; they notice at their next look, without a restart. */
export async function revokeCommand(given: RevokeArguments): Promise<string> {
  const loaded = await configured(given.config)
  const { clients, users } = loaded.configuration
  assertShared(loaded, 'restart the server, which forgets everything')
  await withProvider(loaded, (provider) => provider.revoke(targetOf(given)))
  const { subject, client } = given
  const unknownClient =
    client !== undefined && Array.isArray(clients) && !clients.some(({ clientId }) => clientId === client)
  const unknownUser =
    subject !== undefined && Array.isArray(users) && users.length > 0 && !users.some(({ sub }) => sub === subject)
  const note = unknownClient
    ? `Note: no client ${client} is configured; was it spelled so?\n`
    : unknownUser
      ? `Note: no user with the sub ${subject} is configured; it is the sub that counts, not the username.\n`
      : ''
  return `${doneWith(given)}\n${note}`
}
