import type { Client } from '../directory/client.ts'
import { OAuthError } from '../errors/oauth-error.ts'
import type { Recorder, Trace } from '../events/trace.ts'
import type { Json, JsonObject, MaybePromise } from '../json.ts'
import type { RedemptionFacts } from '../plugin/redemption.ts'
import { after, allOf } from '../promises.ts'
import { fingerprintOf, hashOf, keyOf } from '../records/keys.ts'
import {
  grantRecordSchema,
  replayRecordSchema,
  type SpentRecord,
  spentRecordSchema,
  unreadableMarker,
} from '../records/records.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import type { NewRecord } from './access-token.ts'
import type { Families } from './family.ts'
import type { Minted } from './mint.ts'
import { openResponse, sealResponse } from './sealed-response.ts'
import { spentKeyOf } from './stored-grant.ts'

/** A token request that has passed all checks and is ready for the commit. */
export interface Spending {
  readonly client: Client
  readonly redemptions: readonly RedemptionFacts[]
  /** A stored grant that is used without being spent. It must not be spent already. */
  readonly continues: RedemptionFacts | undefined
  /** Identifies the request: a request with the same value is a retry. */
  readonly request: string
  /** The grant's public text of `invalid_grant`. */
  readonly refusal: string
  readonly trace: Trace
}

/** Spends single-use credentials. No other part of the core does. */
export interface Commit {
  /**
   * Handles a credential that was already spent when it was looked up: returns the response to a retry, or throws.
   * Returns `undefined` if none is spent.
   */
  replayOf(spending: Spending): Promise<JsonObject | undefined>
  /**
   * Writes the records, spends the credentials, and returns the response. A request that loses the race deletes its
   * records and is handled as a replay.
   */
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
   * Whether the refresh token of a stored response was used: spent, or continued because its client now reuses tokens.
   */
  function isSuccessorUsed({ record: redeemed }: RedemptionFacts, successor: Json | undefined): MaybePromise<boolean> {
    if (typeof successor !== 'string') return false
    const hash = hashOf(successor, runtime)
    const found = allOf([store.has(spentKeyOf('refresh', hash)), store.get(keyOf('refresh', hash), grantRecordSchema)])
    return after(found, ([isSpent, record]) => {
      const isContinued = record !== undefined && record.generation > (redeemed?.generation ?? 0) + 1
      return isSpent || isContinued
    })
  }

  /**
   * Returns the stored response for a retry of a refresh request, inside the retry window and until the successor is
   * used. A client that uses the successor has received the response, so a later use of the old token comes from
   * another party (RFC 9700 section 4.14.2).
   */
  async function retried({ request }: Spending, redeemed: RedemptionFacts, spent: SpentRecord | undefined) {
    const { credential } = redeemed
    const replay = spent?.replay
    if (replay === undefined || credential === undefined) return undefined
    if (runtime.now() >= replay.until || replay.request !== request) return undefined
    const record = await store.get(keyOf('replay', hashOf(replay.nonce, runtime)), replayRecordSchema)
    const answer = record && (await openResponse(record.sealed, credential, runtime))
    if (answer === undefined) return undefined
    const [isUsed] = await allOf([
      isSuccessorUsed(redeemed, answer.refresh_token),
      // The process that spent the token may have crashed before its marker was durable.
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

  /** Handles a request that lost the race. The winner may be a concurrent retry, whose response then serves both. */
  async function answerLoser(spending: Spending, lost: RedemptionFacts): Promise<JsonObject> {
    const refresh = spending.redemptions.find(({ kind }) => kind === 'refresh')
    if (lost.kind === 'plugin' && refresh !== undefined) {
      const marker = await markerOf(refresh)
      if (marker !== undefined) return answerReplay(spending, refresh, marker)
    }
    return answerReplay(spending, lost, await markerOf(lost))
  }

  /**
   * Stores the encrypted response for a client that does not receive it. Only the rotation of a refresh token can be
   * retried.
   */
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
      // All records are written before the credential is spent, so a crash in between leaves only orphaned records.
      await allOf(written.map(({ key, value, expiresAt }) => store.put(key, value, expiresAt)))
      const marker: SpentRecord = {
        spentAt: runtime.now(),
        attempt: redemptions.length === 0 ? '' : runtime.base64url(runtime.randomBytes(12)),
        ...(replay !== undefined && { replay: { nonce: replay.nonce, until: replay.until, request } }),
      }
      // The plugin's own credential first: if it was already used, the stored grant remains unspent.
      for (const redeemed of [...redemptions].sort(ownFirst)) {
        if (await store.insert(spentKeyOf(redeemed.kind, redeemed.hash), marker, redeemed.expiresAt)) continue
        // After a broken connection, the driver may have sent our own insert twice.
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
