import type { Client } from '../directory/client.ts'
import type { ClientDirectory } from '../directory/clients.ts'
import { OAuthError } from '../errors/oauth-error.ts'
import { after } from '../promises.ts'
import { clockDifference, type Runtime } from '../runtime.ts'
import type { MaybePromise } from '../types.ts'
import type { ClientState } from './revocation-epochs.ts'

/**
 * Whether a client is still what its source has. What is issued must not be decided by what a process has read of the client
 * before its present state began: a secret, a redirect URI or a grant type can have been taken away.
 *
 * @param state that of the client, as read for what is issued to it
 * @see docs/decisions/0022-revocation-by-epochs.md
 */
export type IsUnchanged = (client: Client, state: ClientState | undefined) => MaybePromise<boolean>

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** Whether two values that a schema has returned are the same. Objects of classes differ unless they are identical. */
function areSame(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => areSame(item, right[index]))
  }
  if (!isPlain(left) || !isPlain(right)) return false
  const names = [...new Set([...Object.keys(left), ...Object.keys(right)])]
  return names.every((name) => areSame(left[name], right[name]))
}

/**
 * Reads a client again, once, when it was revoked or changed after it was read: not in the usual request. What was more than an
 * hour ago is older than what any process remembers.
 */
export function createIsUnchanged({
  clients,
  runtime,
}: {
  readonly clients: Pick<ClientDirectory, 'reread' | 'secretsOf' | 'hasUnlisted'>
  readonly runtime: Pick<Runtime, 'now'>
}): IsUnchanged {
  // A list never changes.
  if (!clients.hasUnlisted) return () => true
  /** By client: the state after whose start it was read. */
  const readUnder = new WeakMap<Client, string>()

  return (client, present) => {
    if (present === undefined) return true
    const { state, since } = present
    if (readUnder.get(client) === state) return true
    if (since !== undefined && since < runtime.now() - clockDifference) return true
    return after(clients.reread(client), (reread) => {
      if (reread === undefined) return false
      readUnder.set(reread, state)
      const isSame =
        reread === client || (areSame(reread, client) && areSame(clients.secretsOf(reread), clients.secretsOf(client)))
      if (isSame) readUnder.set(client, state)
      return isSame
    })
  }
}

/** @throws OAuthError `invalid_client` if the client was changed, and this request was decided by what it was before. */
export function assertUnchanged(
  isUnchanged: IsUnchanged,
  client: Client,
  state: ClientState | undefined,
): MaybePromise<void> {
  return after(isUnchanged(client, state), (isSame) => {
    if (!isSame) throw new OAuthError('invalid_client', 'The client has changed', { reason: 'client_changed' })
  })
}
