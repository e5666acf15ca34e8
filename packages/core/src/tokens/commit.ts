import type { Client } from '../directory/client.ts'
import { OAuthError } from '../errors/oauth-error.ts'
import type { Recorder, Trace } from '../events/trace.ts'
import type { JsonObject, MaybePromise } from '../json.ts'
import type { RedemptionFacts } from '../plugin/redemption.ts'
import { allOf } from '../promises.ts'
import { fingerprintOf, hashOf, keyOf } from '../records/keys.ts'
import { replayRecordSchema, type SpentRecord, spentRecordSchema, unreadableMarker } from '../records/records.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import type { NewRecord } from './access-token.ts'
import type { Families } from './family.ts'
import type { Minted } from './mint.ts'
import { openResponse, sealResponse } from './sealed-response.ts'
import { spentKeyOf } from './stored-grant.ts'

/** One token request at the moment of its commit: everything was checked. */
export interface Spending {
  readonly client: Client
  readonly redemptions: readonly RedemptionFacts[]
  /** A stored grant that goes on unspent; a spent one does not. */
  readonly continues: RedemptionFacts | undefined
  /** What two requests must share to be one request that was sent twice. */
  readonly request: string
  /** The grant's public text of `invalid_grant`. */
  readonly refusal: string
  readonly trace: Trace
}

/** The one place that spends single-use credentials. */
export interface Commit {
  /** The answer to a credential that is known to be spent, before anything is minted; `undefined` where none is. */
  replayOf(spending: Spending): Promise<JsonObject | undefined>
  /** Writes the records, spends, and answers. A request that loses the race leaves nothing behind and is a replay. */
  spend(spending: Spending, minted: Minted): Promise<JsonObject>
}

const replayTypes = { code: 'code_replayed', refresh: 'refresh_reused', plugin: 'redemption_replayed' } as const

const ownFirst = (one: RedemptionFacts, other: RedemptionFacts): number =>
  Number(other.kind === 'plugin') - Number(one.kind === 'plugin')

export function createCommit(deps: {
  readonly store: Store
  readonly families: Families
  readonly runtime: Runtime
  readonly recorder: Recorder
}): Commit {
  const { store, families, runtime, recorder } = deps

  const aboutOf = ({ hash, record }: RedemptionFacts) => ({
    fingerprint: fingerprintOf(hash),
    ...families.named(record?.family),
  })

  /**
   * The response that the first of two equal refresh requests got, inside the retry window and until its refresh token is spent: a client that uses
   * the successor has received the response, so whoever presents the old token then is somebody else (RFC 9700 section 4.14.2).
   */
  async function retried({ request }: Spending, redeemed: RedemptionFacts, spent: SpentRecord | undefined) {
    const { credential } = redeemed
    const replay = spent?.replay
    if (replay === undefined || credential === undefined) return undefined
    if (runtime.now() >= replay.until || replay.request !== request) return undefined
    const record = await store.get(keyOf('replay', hashOf(replay.nonce, runtime)), replayRecordSchema)
    const answer = record && (await openResponse(record.sealed, credential, runtime))
    if (answer === undefined) return undefined
    const { refresh_token: successor } = answer
    const [isUsed] = await allOf([
      typeof successor === 'string' && store.has(spentKeyOf('refresh', hashOf(successor, runtime))),
      // The process that spent the token may have died before its marker was safe from a crash of the store.
      store.insert(spentKeyOf(redeemed.kind, redeemed.hash), spent, redeemed.expiresAt),
    ])
    return isUsed ? undefined : answer
  }

  async function answerReplay(
    spending: Spending,
    redeemed: RedemptionFacts,
    spent: SpentRecord | undefined,
  ): Promise<JsonObject> {
    const { client, trace, refusal } = spending
    if (spent?.ended === true) throw new OAuthError('invalid_grant', refusal, { reason: 'code_ended' })
    const about = aboutOf(redeemed)
    const answer = await retried(spending, redeemed, spent)
    if (answer !== undefined) {
      recorder.record(trace, { type: 'refresh_retried', ...about })
      return answer
    }
    const reason = replayTypes[redeemed.kind]
    recorder.record(trace, { type: reason, ...about })
    const { record } = redeemed
    if (record !== undefined) await families.revoke(record, client, reason, trace)
    throw new OAuthError('invalid_grant', refusal, { reason })
  }

  const markerOf = ({ kind, hash }: RedemptionFacts): MaybePromise<SpentRecord | undefined> =>
    store.getMarker(spentKeyOf(kind, hash), spentRecordSchema, unreadableMarker)

  /** A request that lost: perhaps because its twin was faster, which then has the answer for both. */
  async function answerLoser(spending: Spending, lost: RedemptionFacts): Promise<JsonObject> {
    const refresh = spending.redemptions.find(({ kind }) => kind === 'refresh')
    if (lost.kind === 'plugin' && refresh !== undefined) {
      const marker = await markerOf(refresh)
      if (marker !== undefined) return answerReplay(spending, refresh, marker)
    }
    return answerReplay(spending, lost, await markerOf(lost))
  }

  /** Where the answer waits for a client that does not get it. Only a rotated refresh token can be retried. */
  async function replayRecord({ client, redemptions }: Spending, response: JsonObject) {
    const { retryWindow } = client.refreshToken
    const refresh = redemptions.find(({ kind }) => kind === 'refresh')
    if (refresh?.credential === undefined || retryWindow === 0) return undefined
    const nonce = runtime.base64url(runtime.randomBytes(16))
    const until = runtime.now() + retryWindow
    const sealed = await sealResponse(response, refresh.credential, runtime)
    const record: NewRecord = { key: keyOf('replay', hashOf(nonce, runtime)), value: { sealed }, expiresAt: until }
    return { nonce, until, record }
  }

  return {
    async replayOf(spending) {
      const presented =
        spending.continues === undefined ? spending.redemptions : [spending.continues, ...spending.redemptions]
      const replayed = presented.find(({ spent }) => spent !== undefined)
      return replayed && answerReplay(spending, replayed, replayed.spent)
    },

    async spend(spending, { response, records, continued }) {
      const { redemptions, request, trace } = spending
      const replay = await replayRecord(spending, response)
      const written = replay === undefined ? records : [...records, replay.record]
      // Everything that the answer names is there before the credential is spent: a crash in between costs nothing but orphans.
      await allOf(written.map(({ key, value, expiresAt }) => store.put(key, value, expiresAt)))
      const marker: SpentRecord = {
        spentAt: runtime.now(),
        attempt: redemptions.length === 0 ? '' : runtime.base64url(runtime.randomBytes(12)),
        ...(replay !== undefined && { replay: { nonce: replay.nonce, until: replay.until, request } }),
      }
      // A proof of the grant's own first: when it was used before, the stored grant stays as it was.
      for (const redeemed of [...redemptions].sort(ownFirst)) {
        if (await store.insert(spentKeyOf(redeemed.kind, redeemed.hash), marker, redeemed.expiresAt)) continue
        // A connection that broke may have sent our own insert twice.
        if ((await markerOf(redeemed))?.attempt === marker.attempt) continue
        await Promise.all(written.map((record) => store.delete(record.key)))
        return answerLoser(spending, redeemed)
      }
      if (continued !== undefined) await store.put(continued.key, continued.value, continued.expiresAt)
      for (const redeemed of redemptions) {
        const { kind } = redeemed
        if (kind === 'code') recorder.record(trace, { type: 'code_redeemed', ...aboutOf(redeemed) })
        if (kind === 'refresh') recorder.record(trace, { type: 'refresh_rotated', ...aboutOf(redeemed) })
      }
      return response
    },
  }
}
