import type { Settlement } from '../abuse/settlement.ts'
import type { Client } from '../directory/client.ts'
import type { OAuthError } from '../errors/oauth-error.ts'
import type { Recorder, Trace } from '../events/recorder.ts'
import { fingerprintOf, hashOf, keyOf } from '../records/keys.ts'
import { markerAt, recordAt } from '../records/lookup.ts'
import {
  type GrantRecord,
  isGrantRecord,
  isReplayRecord,
  isSpentRecord,
  type SpentRecord,
  unreadableMarker,
} from '../records/schemas.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import type { Families } from '../tokens/family.ts'
import { spentKeyOf } from '../tokens/stored-grant.ts'
import type { JsonObject } from '../types.ts'
import type { Issuance, Issuances } from './issuance.ts'
import type { Minted } from './mint.ts'
import type { CredentialDetails } from './redemption.ts'

/** A token request that has passed all checks and is ready for the commit. */
export interface CommitRequest {
  readonly client: Client
  readonly redemptions: readonly CredentialDetails[]
  /** A stored grant that is used without being spent. It must not be spent already. */
  readonly continues: CredentialDetails | undefined
  /** To write with the tokens. The commit takes them from the list. */
  readonly unsettled: Settlement[]
  /** The lifetime of the access token in seconds, if the grant shortens that of the client. */
  readonly lifetime: number | undefined
  /** Returns the id that only a retry of the request has, too. Needed when a refresh token is rotated. */
  readonly retryId: () => string
  /** Returns the refusal of the grant. */
  readonly refuse: (reason: string) => OAuthError
  readonly trace: Trace
}

/** Mints the tokens of a request with these values. */
export type MintFrom = (issuance: Issuance) => Promise<Minted>

/** What answers to spent credentials need. */
export interface ReplayDeps {
  readonly store: Store
  readonly families: Families
  readonly runtime: Runtime
  readonly recorder: Recorder
}

/** Answers requests whose credentials are spent. */
interface Replays {
  /** @throws OAuthError `invalid_grant` unless the request may have the successor of its refresh token again. */
  answer(request: CommitRequest, spent: CredentialDetails, mint: MintFrom): Promise<JsonObject>
  /** Another request has spent a credential of this one since it was read. */
  answerLostRace(request: CommitRequest, mint: MintFrom): Promise<JsonObject>
}

/** What a spent refresh token leads to. */
interface Successor {
  /** The values of the response that issued it. */
  readonly issuance: Issuance
  /** Whether the request is equal to the first one. */
  readonly isRetry: boolean
  /** `undefined` if the response contained no refresh token. */
  readonly record: GrantRecord | undefined
  readonly spent: SpentRecord | undefined
}

/** The type of the event, and the reason of the revocation. */
const replayTypeOf = (kind: string) =>
  kind === 'refresh' ? 'refresh_reused' : kind === 'plugin' ? 'redemption_replayed' : 'code_replayed'

/** Returns what an event contains about a credential. */
export const aboutOf = ({ kind, hash, record }: CredentialDetails, families: Families) => ({
  ...(record !== undefined && kind !== 'code' && kind !== 'refresh' && { kind }),
  fingerprint: fingerprintOf(hash),
  ...families.describe(record?.family),
})

/** Seconds for which what a response contained can be derived again. */
export const repeatableFor = ({ refreshToken: { retryWindow, gracePeriod } }: Client): number =>
  Math.max(retryWindow, gracePeriod)

export const replayKeyOf = (attempt: string, runtime: Runtime): string => keyOf('replay', hashOf(attempt, runtime))

export const refreshTokenIn = (redemptions: readonly CredentialDetails[]): CredentialDetails | undefined =>
  redemptions.find(({ kind }) => kind === 'refresh')

/** What a refresh token allows, and what its use requires. */
const rightsOf = ({ scopes, audience, demands, cnf }: GrantRecord): string =>
  JSON.stringify([scopes, audience, demands, cnf])

/** Whether the rule of `refreshToken.gracePeriod` applies: the client of the request is the holder of the token. */
const hasGrace = ({ client }: CommitRequest, { kind, record }: CredentialDetails): boolean =>
  kind === 'refresh' && client.refreshToken.gracePeriod > 0 && record?.clientId === client.clientId

/** Finds what a spent refresh token leads to. */
function createFindSuccessor(issuances: Issuances, { store, runtime }: Pick<ReplayDeps, 'store' | 'runtime'>) {
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
    const successor = hashOf(runtime.base64url(issuance.refreshToken), runtime)
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

/** Creates the answers to clients whose processes share a refresh token. */
function createGrace(
  findSuccessor: ReturnType<typeof createFindSuccessor>,
  issuances: Issuances,
  { store, families, runtime, recorder }: ReplayDeps,
) {
  /** Returns the values of the response. It gets a new access token unless the first one has most of its time left. */
  function issuanceFor({ client, lifetime }: CommitRequest, { issuance, isRetry, spent }: Successor): Issuance {
    const { accessTokenLifetime, refreshToken } = client
    const whole = Math.min(lifetime ?? accessTokenLifetime, accessTokenLifetime)
    if (spent !== undefined) {
      // The holder is behind, and must come back while the successor, too, leads further.
      const left = spent.spentAt + refreshToken.gracePeriod - issuance.now
      return issuances.renewed(issuance, Math.max(1, Math.min(whole, Math.floor(left / 2))))
    }
    const isFresh = (issuance.now - issuance.at) * 2 <= whole
    return isRetry && isFresh ? issuance : issuances.renewed(issuance, whole)
  }

  async function responseOf(request: CommitRequest, redeemed: CredentialDetails, found: Successor, mint: MintFrom) {
    const { trace } = request
    const issuance = issuanceFor(request, found)
    const { response, records, successor, facts } = await mint(issuance)
    // The first request may have bound the successor to a key, or to a demand, that this request does not meet.
    if (found.record !== undefined && (successor === undefined || rightsOf(successor.value) !== rightsOf(found.record)))
      return undefined
    recorder.record(trace, { type: 'refresh_retried', ...aboutOf(redeemed, families) })
    if (issuance === found.issuance) return response
    // The record of the successor exists, and stays as it is.
    await store.commit({ put: records })
    for (const fact of facts) {
      if (fact.type !== 'token_issued' || fact.tokenType !== 'refresh_token') recorder.record(trace, fact)
    }
    return response
  }

  return async (request: CommitRequest, redeemed: CredentialDetails, mint: MintFrom): Promise<JsonObject> => {
    const { client, redemptions, trace, refuse } = request
    const { gracePeriod, retryWindow } = client.refreshToken
    const found = await findSuccessor(request, redeemed, gracePeriod)
    const isLost = found?.isRetry === true && found.issuance.at + retryWindow > runtime.now()
    // A grace prolongs no lifetime: what it returns must be of use.
    const isUsable = found?.record === undefined ? isLost : found.record.redeemableUntil > runtime.now()
    // Another credential beside the refresh token is for one request.
    const isAllowed = found?.isRetry === true || redemptions.length === 1
    const response =
      found !== undefined && isUsable && isAllowed ? await responseOf(request, redeemed, found, mint) : undefined
    if (response !== undefined) return response
    const reason = isUsable ? 'request_differs' : 'grace_over'
    recorder.record(trace, { type: 'refresh_outdated', reason, ...aboutOf(redeemed, families) })
    throw refuse('refresh_outdated')
  }
}

/**
 * Creates what happens to requests whose credentials are spent.
 *
 * @see docs/decisions/0028-end-of-the-retry-window.md
 */
export function createReplays(deps: ReplayDeps, issuances: Issuances): Replays {
  const { store, families, recorder } = deps
  const findSuccessor = createFindSuccessor(issuances, deps)
  const answerInGrace = createGrace(findSuccessor, issuances, deps)

  /**
   * Returns the issuance of the first response to a refresh request, inside the retry window and until the successor is
   * used. A client that uses the successor has received the response, so a later use of the old token comes from
   * another party (RFC 9700 section 4.14.2).
   */
  async function firstIssuanceOf(request: CommitRequest, redeemed: CredentialDetails) {
    const found = await findSuccessor(request, redeemed, request.client.refreshToken.retryWindow)
    if (found?.isRetry !== true) return undefined
    const { issuance, spent, record } = found
    // Its client may reuse tokens now, which leaves no marker.
    const isContinued = record !== undefined && record.generation > (redeemed.record?.generation ?? 0) + 1
    return spent !== undefined || isContinued ? undefined : issuance
  }

  const answer: Replays['answer'] = async (request, redeemed, mint) => {
    const { client, trace, refuse } = request
    const { kind, record, spent } = redeemed
    if (spent?.ended === true) throw refuse('code_ended')
    if (hasGrace(request, redeemed)) return answerInGrace(request, redeemed, mint)
    const issuance = await firstIssuanceOf(request, redeemed)
    const reason = replayTypeOf(kind)
    const type = issuance === undefined ? reason : 'refresh_retried'
    recorder.record(trace, { type, ...aboutOf(redeemed, families) })
    if (issuance !== undefined) return (await mint(issuance)).response
    if (record !== undefined) await families.revoke(record, client, reason, trace)
    throw refuse(reason)
  }

  return {
    answer,
    async answerLostRace(request, mint) {
      const { redemptions } = request
      const markers = await store.getAll(
        redemptions.map(({ kind, hash }) => markerAt(spentKeyOf(kind, hash), isSpentRecord, unreadableMarker)),
      )
      const known = redemptions.map((redeemed, index) => ({ ...redeemed, spent: markers[index] }))
      const lost = known.filter(({ spent }) => spent !== undefined)
      // A concurrent retry may have won the race; then its response serves both. If no marker is left, it has expired.
      return answer(request, refreshTokenIn(lost) ?? lost[0] ?? (known[0] as CredentialDetails), mint)
    },
  }
}
