import type { Client } from '../directory/client.ts'
import { type Bytes, utf8 } from '../encoding.ts'
import { OAuthError } from '../errors/oauth-error.ts'
import type { Recorder, Trace } from '../events/recorder.ts'
import { allOf } from '../promises.ts'
import { fingerprintOf, hashOf, keyOf } from '../records/keys.ts'
import { isGrantRecord, isReplayRecord, isSpentRecord, type SpentRecord, unreadableMarker } from '../records/schemas.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import { openJson, sealJson } from '../sealed-json.ts'
import type { NewRecord } from '../tokens/access-token.ts'
import type { Families } from '../tokens/family.ts'
import { spentKeyOf } from '../tokens/stored-grant.ts'
import type { Json, JsonObject } from '../types.ts'
import type { Minted } from './mint.ts'
import type { CredentialDetails } from './redemption.ts'

/** A token request that has passed all checks and is ready for the commit. */
export interface CommitRequest {
  readonly client: Client
  readonly redemptions: readonly CredentialDetails[]
  /** A stored grant that is used without being spent. It must not be spent already. */
  readonly continues: CredentialDetails | undefined
  /** A request with the same id is a retry. */
  readonly retryId: string
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
  replayOf(request: CommitRequest): Promise<JsonObject | undefined>
  /**
   * Writes the records, spends the credentials, and returns the response. A request that loses the race deletes its
   * records and is handled as a replay.
   */
  spend(request: CommitRequest, minted: Minted): Promise<JsonObject>
}

const replayTypes = { code: 'code_replayed', refresh: 'refresh_reused', plugin: 'redemption_replayed' } as const

const pluginFirst = (one: CredentialDetails, other: CredentialDetails): number =>
  Number(other.kind === 'plugin') - Number(one.kind === 'plugin')

/** Derives a key from the credential. The storage contains only its hash, so it cannot decrypt a response. */
const keyFor = (credential: string, runtime: Runtime): Bytes =>
  // The prefix makes the key different from the SHA-256 in the key of the credential's record.
  new Uint8Array(runtime.sha256(utf8(`grantry replay 1\n${credential}`)))

/** Encrypts a token response, so that the holder of the redeemed credential can retry. */
const sealResponse = (response: JsonObject, credential: string, runtime: Runtime): Promise<string> =>
  sealJson(response, keyFor(credential, runtime), runtime)

/** Decrypts a response; returns `undefined` if it was not sealed for this credential. */
const openResponse = (sealed: string, credential: string, runtime: Runtime): Promise<JsonObject | undefined> =>
  openJson(sealed, keyFor(credential, runtime), runtime) as Promise<JsonObject | undefined>

export function createCommit(deps: {
  readonly store: Store
  readonly families: Families
  readonly runtime: Runtime
  readonly recorder: Recorder
}): Commit {
  const { store, families, runtime, recorder } = deps

  const aboutOf = ({ hash, record }: CredentialDetails) => ({
    fingerprint: fingerprintOf(hash),
    ...families.describe(record?.family),
  })

  /**
   * Whether the refresh token of a stored response was used: spent, or continued because its client now reuses tokens.
   */
  async function isSuccessorUsed(
    { record: redeemed }: CredentialDetails,
    successor: Json | undefined,
  ): Promise<boolean> {
    if (typeof successor !== 'string') return false
    const hash = hashOf(successor, runtime)
    const [isSpent, record] = await Promise.all([
      store.has(spentKeyOf('refresh', hash)),
      store.get(keyOf('refresh', hash), isGrantRecord),
    ])
    return isSpent || (record !== undefined && record.generation > (redeemed?.generation ?? 0) + 1)
  }

  /**
   * Returns the stored response for a retry of a refresh request, inside the retry window and until the successor is
   * used. A client that uses the successor has received the response, so a later use of the old token comes from
   * another party (RFC 9700 section 4.14.2).
   */
  async function retried({ retryId }: CommitRequest, redeemed: CredentialDetails, spent: SpentRecord | undefined) {
    const { credential } = redeemed
    const replay = spent?.replay
    if (replay === undefined || credential === undefined) return undefined
    if (runtime.now() >= replay.until || replay.request !== retryId) return undefined
    const record = await store.get(keyOf('replay', hashOf(replay.nonce, runtime)), isReplayRecord)
    const response = record && (await openResponse(record.sealed, credential, runtime))
    if (response === undefined) return undefined
    const [isUsed] = await Promise.all([
      isSuccessorUsed(redeemed, response.refresh_token),
      // The process that spent the token may have crashed before its marker was durable.
      store.insert(spentKeyOf(redeemed.kind, redeemed.hash), spent, redeemed.expiresAt),
    ])
    return isUsed ? undefined : response
  }

  async function handleReplay(
    request: CommitRequest,
    redeemed: CredentialDetails,
    spent: SpentRecord | undefined,
  ): Promise<JsonObject> {
    const { client, trace, refusal } = request
    if (spent?.ended === true) throw new OAuthError('invalid_grant', refusal, { reason: 'code_ended' })
    const about = aboutOf(redeemed)
    const response = await retried(request, redeemed, spent)
    if (response !== undefined) {
      recorder.record(trace, { type: 'refresh_retried', ...about })
      return response
    }
    const reason = replayTypes[redeemed.kind]
    recorder.record(trace, { type: reason, ...about })
    const { record } = redeemed
    if (record !== undefined) await families.revoke(record, client, reason, trace)
    throw new OAuthError('invalid_grant', refusal, { reason })
  }

  const markerOf = async ({ kind, hash }: CredentialDetails): Promise<SpentRecord | undefined> =>
    store.getMarker(spentKeyOf(kind, hash), isSpentRecord, unreadableMarker)

  /** Handles a request that lost the race. The winner may be a concurrent retry, whose response then serves both. */
  async function handleLostRace(request: CommitRequest, lost: CredentialDetails): Promise<JsonObject> {
    const refresh = request.redemptions.find(({ kind }) => kind === 'refresh')
    if (lost.kind === 'plugin' && refresh !== undefined) {
      const marker = await markerOf(refresh)
      if (marker !== undefined) return handleReplay(request, refresh, marker)
    }
    return handleReplay(request, lost, await markerOf(lost))
  }

  /**
   * Stores the encrypted response for a client that does not receive it. Only the rotation of a refresh token can be
   * retried.
   */
  async function replayRecord({ client, redemptions }: CommitRequest, response: JsonObject) {
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
    async replayOf(request) {
      const presented =
        request.continues === undefined ? request.redemptions : [request.continues, ...request.redemptions]
      const replayed = presented.find(({ spent }) => spent !== undefined)
      return replayed && handleReplay(request, replayed, replayed.spent)
    },

    async spend(request, { response, records, continued }) {
      const { redemptions, retryId, trace } = request
      const replay = await replayRecord(request, response)
      const written = replay === undefined ? records : [...records, replay.record]
      // All records are written before the credential is spent, so a crash in between leaves only orphaned records.
      await allOf(written.map(({ key, value, expiresAt }) => store.put(key, value, expiresAt)))
      const marker: SpentRecord = {
        spentAt: runtime.now(),
        attempt: redemptions.length === 0 ? '' : runtime.base64url(runtime.randomBytes(12)),
        ...(replay !== undefined && { replay: { nonce: replay.nonce, until: replay.until, request: retryId } }),
      }
      // The plugin's own credential first: if it was already used, the stored grant remains unspent.
      for (const redeemed of [...redemptions].sort(pluginFirst)) {
        if (await store.insert(spentKeyOf(redeemed.kind, redeemed.hash), marker, redeemed.expiresAt)) continue
        // After a broken connection, the driver may have sent our own insert twice.
        if ((await markerOf(redeemed))?.attempt === marker.attempt) continue
        await Promise.all(written.map((record) => store.delete(record.key)))
        return handleLostRace(request, redeemed)
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
