import { createBoundedMap } from '../bounded-map.ts'
import { after, isThenable } from '../promises.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import type { MaybePromise } from '../types.ts'
import type { Revision } from './revision.ts'
import type { Epochs, RevocationEpochs } from './revocation-epochs.ts'

/** What a token carries for the check whether it was revoked. */
export interface RevocationMark {
  readonly epochs: Epochs
  readonly revision: string | undefined
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
  readonly runtime: Runtime
}): NewRevocationMark {
  const { store, revision, revocationEpochs, runtime } = deps
  const cached = createBoundedMap<CachedMark>(maxClients)

  const readOnce = (clientId: string, sub: string | undefined): MaybePromise<RevocationMark> =>
    after(
      store.getAll([revision.forNewRecord(), revocationEpochs.current(clientId, sub)]),
      ([recorded, epochs]): RevocationMark => ({ epochs, revision: recorded }),
    )

  /**
   * The first read of a process only makes the revision known. A token without a revision is checked in full for as
   * long as it lives, so a second read is worth its trip.
   */
  const read = (clientId: string, sub: string | undefined): MaybePromise<RevocationMark> =>
    after(readOnce(clientId, sub), (mark) => (mark.revision === undefined ? readOnce(clientId, sub) : mark))

  /**
   * An outdated mark fails closed: until the end of the second in which another process has revoked the client, its new
   * tokens are refused like its old ones. A revocation in this process takes effect immediately.
   */
  function ofClient(clientId: string): MaybePromise<RevocationMark> {
    const readAt = runtime.now()
    const { replacements } = revision
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
  /** Begins to read the mark of a user, unless that has begun, so that it shares a trip with what follows. */
  readEarly(sub: string): void
  /** Returns the mark for a new authorization of this user, or of none. */
  newMark(sub: string | undefined): MaybePromise<RevocationMark>
}

/** Creates the marks of a request of this client. */
export type CreateRequestMarks = (clientId: string) => RequestMarks

export const createRequestMarks =
  ({
    newRevocationMark,
    revocationEpochs,
  }: {
    readonly newRevocationMark: NewRevocationMark
    readonly revocationEpochs: RevocationEpochs
  }): CreateRequestMarks =>
  (clientId) => {
    let early:
      | { readonly sub: string; readonly lastBegun: number; readonly mark: MaybePromise<RevocationMark> }
      | undefined
    // A revocation in between reaches the token. One of the user in this process may be part of the login: a grant that
    // ends the earlier sessions. Any other must not cause a second read, which could hide a revocation in another process:
    // everyone who owns a refresh token can revoke its family.
    const earlyMark = (sub: string | undefined): MaybePromise<RevocationMark> | undefined =>
      early !== undefined && early.sub === sub && revocationEpochs.lastBegun(early.sub) <= early.lastBegun
        ? early.mark
        : undefined
    return {
      readEarly(sub) {
        if (earlyMark(sub) !== undefined) return
        const lastBegun = revocationEpochs.lastBegun(sub)
        const mark = newRevocationMark(clientId, sub)
        // Nothing else handles a rejection if the request is refused before it issues a token.
        if (isThenable(mark)) mark.catch(() => {})
        early = { sub, lastBegun, mark }
      },
      newMark: (sub) => earlyMark(sub) ?? newRevocationMark(clientId, sub),
    }
  }
