import type { Client } from '../directory/client.ts'
import { markerAt, recordAt } from '../records/envelope.ts'
import { keyOf, spentKeyOf } from '../records/keys.ts'
import {
  type GrantRecord,
  isGrantRecord,
  isReplayRecord,
  isSpentRecord,
  type SpentRecord,
  unreadableMarker,
} from '../records/schemas.ts'
import type { Runtime } from '../runtime.ts'
import type { CommitRequest, ReplayDeps } from './commit-request.ts'
import type { Issuance, Issuances } from './issuance.ts'
import type { CredentialDetails } from './redemption.ts'

/** What a spent refresh token leads to. */
export interface Successor {
  /** The values of the response that issued it. */
  readonly issuance: Issuance
  /** Whether the request is equal to the first one. */
  readonly isRetry: boolean
  /** `undefined` if the response contained no refresh token. */
  readonly record: GrantRecord | undefined
  readonly spent: SpentRecord | undefined
}

/** Seconds for which what a response contained can be derived again. */
export const repeatableFor = ({ refreshToken: { retryWindow, gracePeriod } }: Client): number =>
  Math.max(retryWindow, gracePeriod)

export const replayKeyOf = (attempt: string, runtime: Runtime): string => keyOf('replay', runtime.sha256Hex(attempt))

/** Finds what a spent refresh token leads to. */
export function createFindSuccessor(issuances: Issuances, { store, runtime }: Pick<ReplayDeps, 'store' | 'runtime'>) {
  /** @param window seconds since the token was spent, after which nothing is found */
  return async (
    { client, retryId }: CommitRequest,
    { kind, hash, credential, spent, expiresAt }: CredentialDetails,
    window: number,
  ): Promise<Successor | undefined> => {
    if (kind !== 'refresh' || credential === undefined || spent === undefined) return undefined
    // The record can have been written under a longer window.
    if (spent.spentAt + window <= runtime.now()) return undefined
    const replay = await store.get(replayKeyOf(spent.attempt, runtime), isReplayRecord)
    const issuance = replay && (await issuances.repeated(credential, replay, spent.spentAt))
    const isRetry = replay?.request === retryId()
    if (issuance === undefined || (!isRetry && client.refreshToken.gracePeriod === 0)) return undefined
    const successor = runtime.sha256Hex(runtime.base64url(issuance.refreshToken))
    const [[marker, record]] = await Promise.all([
      store.getAll([
        markerAt(spentKeyOf('refresh', successor), isSpentRecord, unreadableMarker),
        recordAt(keyOf('refresh', successor), isGrantRecord),
      ]),
      // The process that spent the token may have crashed before its marker was durable.
      store.insert(spentKeyOf(kind, hash), spent, expiresAt),
    ])
    return { issuance, isRetry, record, spent: marker }
  }
}
