import type { Client } from '../directory/client.ts'
import { OAuthError } from '../errors/oauth-error.ts'
import type { Recorder, Trace } from '../events/recorder.ts'
import type { NewMarker, NewRecord } from '../records/commit-records.ts'
import { fingerprintOf, hashOf, keyOf } from '../records/keys.ts'
import { existenceAt, recordAt } from '../records/lookup.ts'
import { isGrantRecord, isReplayRecord, isSpentRecord, type SpentRecord, unreadableMarker } from '../records/schemas.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import type { Families } from '../tokens/family.ts'
import { spentKeyOf } from '../tokens/stored-grant.ts'
import { derivedIssuance, type Issuance, randomIssuance } from './issuance.ts'
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
   * Returns the issuance of the first response if the request is a retry; `undefined` if no credential is spent.
   *
   * @throws OAuthError `invalid_grant` if a credential is spent and the request is not a retry.
   */
  retryOf(request: CommitRequest): Promise<Issuance | undefined>
  /** Returns the issuance of a first response. */
  issuanceFor(request: CommitRequest): Issuance
  /**
   * Spends the credentials and stores the tokens. Returns `undefined`, or the issuance of the winner if this request
   * lost the race to an equal one.
   *
   * @throws OAuthError `invalid_grant` if another request has spent a credential.
   */
  spend(request: CommitRequest, issuance: Issuance, minted: Minted): Promise<Issuance | undefined>
}

const replayTypes = { code: 'code_replayed', refresh: 'refresh_reused', plugin: 'redemption_replayed' } as const

const pluginFirst = (one: CredentialDetails, other: CredentialDetails): number =>
  Number(other.kind === 'plugin') - Number(one.kind === 'plugin')

const refreshTokenIn = (redemptions: readonly CredentialDetails[]): CredentialDetails | undefined =>
  redemptions.find(({ kind }) => kind === 'refresh')

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
  const replayKeyOf = (attempt: string): string => keyOf('replay', hashOf(attempt, runtime))

  /** Whether the next refresh token was used: spent, or continued because its client now reuses tokens. */
  async function isSuccessorUsed({ record: redeemed }: CredentialDetails, { refreshToken }: Issuance) {
    const hash = hashOf(runtime.base64url(refreshToken), runtime)
    const [isSpent, record] = await store.getAll([
      existenceAt(spentKeyOf('refresh', hash)),
      recordAt(keyOf('refresh', hash), isGrantRecord),
    ])
    return isSpent || (record !== undefined && record.generation > (redeemed?.generation ?? 0) + 1)
  }

  /**
   * Returns the issuance of the first response to a refresh request, inside the retry window and until the successor is
   * used. A client that uses the successor has received the response, so a later use of the old token comes from
   * another party (RFC 9700 section 4.14.2).
   */
  async function firstIssuanceOf({ retryId }: CommitRequest, redeemed: CredentialDetails, spent: SpentRecord) {
    const { credential } = redeemed
    if (redeemed.kind !== 'refresh' || credential === undefined) return undefined
    const replay = await store.get(replayKeyOf(spent.attempt), isReplayRecord)
    if (replay?.request !== retryId) return undefined
    const issuance = derivedIssuance(credential, replay.nonce, spent.spentAt, runtime)
    const [isUsed] = await Promise.all([
      isSuccessorUsed(redeemed, issuance),
      // The process that spent the token may have crashed before its marker was durable.
      store.insert(spentKeyOf(redeemed.kind, redeemed.hash), spent, redeemed.expiresAt),
    ])
    return isUsed ? undefined : issuance
  }

  /** @param spent `undefined` if the marker has expired since. */
  async function handleReplay(
    request: CommitRequest,
    redeemed: CredentialDetails,
    spent: SpentRecord | undefined,
  ): Promise<Issuance> {
    const { client, trace, refusal } = request
    if (spent?.ended === true) throw new OAuthError('invalid_grant', refusal, { reason: 'code_ended' })
    const issuance = spent && (await firstIssuanceOf(request, redeemed, spent))
    const about = aboutOf(redeemed)
    if (issuance !== undefined) {
      recorder.record(trace, { type: 'refresh_retried', ...about })
      return issuance
    }
    const reason = replayTypes[redeemed.kind]
    recorder.record(trace, { type: reason, ...about })
    const { record } = redeemed
    if (record !== undefined) await families.revoke(record, client, reason, trace)
    throw new OAuthError('invalid_grant', refusal, { reason })
  }

  /** A concurrent retry may have won the race; then its response serves both. */
  async function handleLostRace(request: CommitRequest, existing: readonly string[]): Promise<Issuance> {
    const lost = request.redemptions.filter(({ kind, hash }) => existing.includes(spentKeyOf(kind, hash)))
    const redeemed = refreshTokenIn(lost) ?? (lost[0] as CredentialDetails)
    const key = spentKeyOf(redeemed.kind, redeemed.hash)
    return handleReplay(request, redeemed, await store.getMarker(key, isSpentRecord, unreadableMarker))
  }

  /** What a retry needs, for a client that does not receive the response. */
  function replayRecord({ client, retryId }: CommitRequest, { at, nonce }: Issuance, attempt: string): NewRecord {
    const expiresAt = at + client.refreshToken.retryWindow
    return { key: replayKeyOf(attempt), value: { nonce, request: retryId }, expiresAt }
  }

  return {
    async retryOf(request) {
      const { redemptions, continues } = request
      const presented = continues === undefined ? redemptions : [continues, ...redemptions]
      const replayed = presented.find(({ spent }) => spent !== undefined)
      return replayed && handleReplay(request, replayed, replayed.spent)
    },

    issuanceFor({ client, redemptions }) {
      // Only the rotation of a refresh token can be retried.
      const credential = refreshTokenIn(redemptions)?.credential
      if (credential === undefined || client.refreshToken.retryWindow === 0) return randomIssuance(runtime)
      return derivedIssuance(credential, runtime.base64url(runtime.randomBytes(16)), runtime.now(), runtime)
    },

    async spend(request, issuance, { records, continued, family, describedFamily }) {
      const { redemptions, trace } = request
      const attempt = redemptions.length === 0 ? '' : runtime.base64url(runtime.randomBytes(12))
      const marker: SpentRecord = { spentAt: issuance.at, attempt }
      const markerOf = ({ kind, hash, expiresAt }: CredentialDetails): NewMarker => ({
        key: spentKeyOf(kind, hash),
        value: marker,
        expiresAt,
      })
      const existing = await store.commit({
        // The plugin's own credential first: if it exists, the stored grant remains unspent, even without an atomic
        // commit.
        create: [...redemptions].sort(pluginFirst).map(markerOf),
        put: issuance.nonce === undefined ? records : [...records, replayRecord(request, issuance, attempt)],
      })
      if (existing.length > 0) return handleLostRace(request, existing)
      if (continued !== undefined) await store.put(continued.key, continued.value, continued.expiresAt)
      for (const { kind, hash, record } of redemptions) {
        if (kind === 'plugin') continue
        const type = kind === 'code' ? 'code_redeemed' : 'refresh_rotated'
        // The tokens usually have the family of what was redeemed. A hash for each of them would cost a microsecond.
        const described = record?.family === family ? describedFamily : families.describe(record?.family)
        recorder.record(trace, { type, fingerprint: fingerprintOf(hash), ...described })
      }
      return undefined
    },
  }
}
