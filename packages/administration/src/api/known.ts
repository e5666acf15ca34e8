import type { EndpointKit } from '@grantry/core'
import type { Managers } from '../managers.ts'
import type { AdminHost } from './host.ts'
import type { Operation } from './operation.ts'
import { missing } from './refusals.ts'

interface Looked {
  readonly kit: EndpointKit
  readonly host: AdminHost
  readonly managers: Managers
}

/** What is left of a user who was removed elsewhere can still be ended. */
async function hasLeft(sub: string, { sessions, authorizations }: AdminHost): Promise<boolean> {
  if (((await sessions?.list(sub)) ?? []).length > 0) return true
  return ((await authorizations?.list(sub)) ?? []).length > 0
}

/** Only the `sub` counts: a name would get past what protects administrators by their subs. */
async function isUser(sub: string, { kit, host, managers: { users } }: Looked): Promise<boolean> {
  // First: it does not need a user service that does not respond.
  if (await hasLeft(sub, host)) return true
  if (host.users !== undefined) return (await host.users.find(sub)).some((user) => user.sub === sub)
  return (await users.has(sub)) || kit.isUserActive(sub)
}

/** A URL can be the id of a client whose metadata document is gone. */
const isClient = async (id: string, { kit, managers: { clients } }: Looked): Promise<boolean> =>
  (await clients.has(id)) || URL.canParse(id) || (await kit.findClient(id)) !== undefined

/** Characters of the longest id that anything was issued to. */
const maxLength = 512

/**
 * Refuses a request about a user or a client that does not exist: a success would say that something was ended, or that
 * there is nothing to end, because of a typing mistake.
 *
 * @throws OAuthError 404
 */
export async function assertKnown(
  { of }: Pick<Operation, 'of'>,
  [id = '']: readonly string[],
  looked: Looked,
): Promise<void> {
  if (of === undefined) return
  const isKnown = of === 'user' ? isUser : isClient
  if (id.length > maxLength || !(await isKnown(id, looked))) throw missing(looked.kit, `There is no such ${of}`)
}
