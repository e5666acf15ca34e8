import { createBoundedMap } from '../bounded-map.ts'
import type { Client } from '../directory/client.ts'
import type { ClientDirectory } from '../directory/client-directory.ts'
import { OAuthError } from '../errors/oauth-error.ts'
import { after, isThenable } from '../promises.ts'
import type { Store } from '../records/store.ts'
import { clockDifference, type Runtime } from '../runtime.ts'
import type { MaybePromise } from '../types.ts'
import type { Epochs } from './epochs.ts'
import type { Revision } from './revision.ts'
import type { ClientState, RevocationEpochs } from './revocation-epochs.ts'

/**
 * Whether a client is unchanged in its source. No token may be issued by a form of the client that was read before
 * its current state began: a secret, a redirect URI or a grant type may have been removed.
 *
 * @param state the state of the client that was read for the new token
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
 * Reads a client again, once, if it was revoked or changed after it was read, which is not the usual case. Ignores
 * changes of more than an hour ago: no process remembers a client for so long.
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

/** What a token carries for the check whether it was revoked. */
export interface RevocationMark {
  readonly epochs: Epochs
  readonly revision: string | undefined
  /** Epoch seconds of the last revocation of the subject, if it is known. */
  readonly since?: number | undefined
  /** The state of the client, if it was revoked or changed not long ago. */
  readonly clientState?: ClientState | undefined
}

/** Returns the mark of a new authorization, so that a revocation reaches it even if it happens at the same time. */
export type NewRevocationMark = (clientId: string, sub: string | undefined) => MaybePromise<RevocationMark>

interface CachedMark {
  readonly mark: RevocationMark
  /** Epoch seconds at which the read began. */
  readonly readAt: number
  readonly replacements: number
}

/** The maximum number of clients whose marks are cached. */
const maxClients = 1000

export function createNewRevocationMark(deps: {
  readonly store: Store
  readonly revision: Revision
  readonly revocationEpochs: RevocationEpochs
  readonly clients: Pick<ClientDirectory, 'all'>
  readonly runtime: Runtime
}): NewRevocationMark {
  const { store, revision, revocationEpochs, clients, runtime } = deps
  // Each process has its own list, which does not change.
  const listed = new Set(clients.all.map(({ clientId }) => clientId))
  const cached = createBoundedMap<CachedMark>(maxClients)

  const readOnce = (clientId: string, sub: string | undefined): MaybePromise<RevocationMark> =>
    after(
      store.getAll([revision.forNewRecord(), revocationEpochs.current(clientId, sub)]),
      ([recorded, { epochs, since, clientState }]): RevocationMark => ({
        epochs,
        revision: recorded,
        since,
        clientState,
      }),
    )

  /**
   * The first read of a process only makes the revision known. A token without a revision is checked in full for as
   * long as it lives, so a second read is worth its trip.
   */
  const read = (clientId: string, sub: string | undefined): MaybePromise<RevocationMark> =>
    after(readOnce(clientId, sub), (mark) => (mark.revision === undefined ? readOnce(clientId, sub) : mark))

  /**
   * An outdated mark fails closed: until the end of the second in which another process has revoked the client, its new
   * tokens are refused like its old ones. A revocation in this process takes effect immediately. Not for clients that can
   * change: what another process has taken away, such as a secret, would count until the end of the second.
   */
  function ofClient(clientId: string): MaybePromise<RevocationMark> {
    if (!listed.has(clientId)) return read(clientId, undefined)
    const readAt = runtime.now()
    const replacements = revision.replacements
    const known = cached.get(clientId)
    if (known?.readAt === readAt && known.replacements === replacements) return known.mark
    return after(read(clientId, undefined), (mark) => {
      if (mark.revision !== undefined) cached.set(clientId, { mark, readAt, replacements })
      return mark
    })
  }

  // Not cached for users: a new login would be lost, which a client cannot repeat by itself.
  return (clientId, sub) => (sub === undefined ? ofClient(clientId) : read(clientId, sub))
}

/** The marks of the tokens that one request issues. */
export interface RequestMarks {
  /**
   * Begins to read the mark of a user whose password is checked next, or was checked. Resolves when it is read, with the
   * time of the last revocation of the user (epoch seconds).
   */
  readFor(sub: string): MaybePromise<number | undefined>
  /** Begins to read the mark of a user, unless that has begun, so that it shares a trip with what follows. */
  readEarly(sub: string): void
  /** Takes the function that checks the password of the user again. */
  confirmBy(sub: string, confirm: () => Promise<boolean>): void
  /** Whether the password of the user was checked. */
  hasProved(sub: string): boolean
  /** Returns the mark for a new authorization of this user, or of none. */
  newMark(sub: string | undefined): MaybePromise<RevocationMark>
}

/** Creates the marks of a request of this client. */
export type CreateRequestMarks = (clientId: string) => RequestMarks

interface EarlyMark {
  readonly sub: string
  readonly lastBegun: number
  readonly mark: MaybePromise<RevocationMark>
}

export const createRequestMarks =
  ({
    newRevocationMark,
    revocationEpochs,
  }: {
    readonly newRevocationMark: NewRevocationMark
    readonly revocationEpochs: RevocationEpochs
  }): CreateRequestMarks =>
  (clientId) => {
    let early: EarlyMark | undefined
    let confirmation: { readonly sub: string; readonly confirm: () => Promise<boolean> } | undefined

    function read(sub: string): MaybePromise<RevocationMark> {
      const lastBegun = revocationEpochs.lastBegun(sub)
      const mark = newRevocationMark(clientId, sub)
      // Nothing else handles a rejection if the request is refused before it issues a token.
      if (isThenable(mark)) mark.catch(() => {})
      early = { sub, lastBegun, mark }
      return mark
    }

    /**
     * A revocation of the user in this process may be part of the login: a grant that ends the earlier sessions. It may also
     * be part of a change of the password, so the new mark counts only if the password is right after it was read.
     */
    async function renewed({ sub, mark }: EarlyMark): Promise<RevocationMark> {
      if (confirmation?.sub !== sub) return mark
      const current = await newRevocationMark(clientId, sub)
      return (await confirmation.confirm()) ? current : mark
    }

    return {
      readFor: (sub) => after(read(sub), ({ since }) => since),
      readEarly(sub) {
        if (early?.sub !== sub) read(sub)
      },
      confirmBy(sub, confirm) {
        confirmation = { sub, confirm }
      },
      hasProved: (sub) => confirmation?.sub === sub,
      newMark(sub) {
        if (sub === undefined || early?.sub !== sub) return newRevocationMark(clientId, sub)
        return revocationEpochs.lastBegun(sub) > early.lastBegun ? renewed(early) : early.mark
      },
    }
  }
