import { type Settlement, settle } from '../abuse/settlement.ts'
import type { Client } from '../directory/client.ts'
import type { OAuthError } from '../errors/oauth-error.ts'
import type { Recorder, Trace } from '../events/recorder.ts'
import type { RetrySecret } from '../keys/key-ring.ts'
import { after, isThenable } from '../promises.ts'
import type { NewRecord } from '../records/envelope.ts'
import { fingerprintOf, hashOf, keyOf } from '../records/keys.ts'
import { existenceAt, markerAt, recordAt } from '../records/lookup.ts'
import { isGrantRecord, isReplayRecord, isSpentRecord, type SpentRecord, unreadableMarker } from '../records/schemas.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import type { Families } from '../tokens/family.ts'
import { spentKeyOf } from '../tokens/stored-grant.ts'
import type { JsonObject, MaybePromise } from '../types.ts'
import { createIssuances, type Derivation, type Issuance } from './issuance.ts'
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
  /** Returns the id that only a retry of the request has, too. Needed when a refresh token is rotated. */
  readonly retryId: () => string
  /** Returns the refusal of the grant. */
  readonly refuse: (reason: string) => OAuthError
  readonly trace: Trace
}

/**
 * Mints the tokens of a request, stores them, spends the credentials, and returns the response. No other part of the
 * core spends a credential. A retry gets the tokens of the first response again.
 *
 * @throws OAuthError `invalid_grant` if a credential is spent and the request is not a retry.
 */
export type Commit = (request: CommitRequest, mint: (issuance: Issuance) => Promise<Minted>) => Promise<JsonObject>

/** The type of the event, and the reason of the revocation. */
const replayTypeOf = (kind: string) =>
  kind === 'refresh' ? 'refresh_reused' : kind === 'plugin' ? 'redemption_replayed' : 'code_replayed'

const pluginFirst = (one: CredentialDetails, other: CredentialDetails): number =>
  Number(other.kind === 'plugin') - Number(one.kind === 'plugin')

const refreshTokenIn = (redemptions: readonly CredentialDetails[]): CredentialDetails | undefined =>
  redemptions.find(({ kind }) => kind === 'refresh')

interface CommitDeps {
  readonly store: Store
  readonly families: Families
  readonly retrySecrets: readonly RetrySecret[]
  readonly runtime: Runtime
  readonly recorder: Recorder
}

/** Returns what an event contains about a credential. */
const aboutOf = ({ kind, hash, record }: CredentialDetails, families: Families) => ({
  ...(record !== undefined && kind !== 'code' && kind !== 'refresh' && { kind }),
  fingerprint: fingerprintOf(hash),
  ...families.describe(record?.family),
})

const replayKeyOf = (attempt: string, runtime: Runtime): string => keyOf('replay', hashOf(attempt, runtime))

/** Creates what happens to requests whose credentials are spent. */
function createReplays(
  { store, families, runtime, recorder }: Omit<CommitDeps, 'retrySecrets'>,
  issuances: ReturnType<typeof createIssuances>,
) {
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
  async function firstIssuanceOf({ retryId }: CommitRequest, redeemed: CredentialDetails) {
    const { kind, hash, credential, spent } = redeemed
    if (kind !== 'refresh' || credential === undefined || spent === undefined) return undefined
    const replay = await store.get(replayKeyOf(spent.attempt, runtime), isReplayRecord)
    if (replay === undefined || replay.request !== retryId()) return undefined
    const issuance = await issuances.repeated(credential, replay, spent.spentAt)
    if (issuance === undefined) return undefined
    const [isUsed] = await Promise.all([
      isSuccessorUsed(redeemed, issuance),
      // The process that spent the token may have crashed before its marker was durable.
      store.insert(spentKeyOf(kind, hash), spent, redeemed.expiresAt),
    ])
    return isUsed ? undefined : issuance
  }

  /** Handles a request whose credential is spent: returns the issuance of the first response to a retry, or throws. */
  async function handleReplay(request: CommitRequest, redeemed: CredentialDetails): Promise<Issuance> {
    const { client, trace, refuse } = request
    const { kind, record, spent } = redeemed
    if (spent?.ended === true) throw refuse('code_ended')
    const issuance = await firstIssuanceOf(request, redeemed)
    const reason = replayTypeOf(kind)
    const type = issuance === undefined ? reason : 'refresh_retried'
    recorder.record(trace, { type, ...aboutOf(redeemed, families) })
    if (issuance !== undefined) return issuance
    if (record !== undefined) await families.revoke(record, client, reason, trace)
    throw refuse(reason)
  }

  /** A concurrent retry may have won the race; then its response serves both. */
  async function handleLostRace(request: CommitRequest): Promise<Issuance> {
    const { redemptions } = request
    const markers = await store.getAll(
      redemptions.map(({ kind, hash }) => markerAt(spentKeyOf(kind, hash), isSpentRecord, unreadableMarker)),
    )
    const known = redemptions.map((redeemed, index) => ({ ...redeemed, spent: markers[index] }))
    const lost = known.filter(({ spent }) => spent !== undefined)
    // If no marker is left, it has expired since.
    return handleReplay(request, refreshTokenIn(lost) ?? lost[0] ?? (known[0] as CredentialDetails))
  }

  return { handleReplay, handleLostRace }
}

export function createCommit(deps: CommitDeps): Commit {
  const { store, families, retrySecrets, runtime, recorder } = deps
  const issuances = createIssuances(retrySecrets, runtime)
  const { handleReplay, handleLostRace } = createReplays(deps, issuances)

  function issuanceFor({ client, redemptions }: CommitRequest): MaybePromise<Issuance> {
    // Only the rotation of a refresh token can be retried.
    const credential = refreshTokenIn(redemptions)?.credential
    if (credential === undefined || client.refreshToken.retryWindow === 0) return issuances.random()
    return issuances.repeatable(credential)
  }

  /** What a retry needs, for a client that does not receive the response. */
  function replayRecord(
    { client, retryId }: CommitRequest,
    at: number,
    derivation: Derivation,
    attempt: string,
  ): NewRecord {
    const expiresAt = at + client.refreshToken.retryWindow
    return { key: replayKeyOf(attempt, runtime), value: { request: retryId(), ...derivation }, expiresAt }
  }

  /** Stores the tokens and spends the credentials. Returns `false` if a credential was already spent. */
  function spend(
    request: CommitRequest,
    { at, derivation }: Issuance,
    records: readonly NewRecord[],
  ): MaybePromise<boolean> {
    const { redemptions } = request
    const attempt = redemptions.length === 0 ? '' : runtime.base64url(runtime.randomBytes(12))
    const marker: SpentRecord = { spentAt: at, attempt }
    // The plugin's own credential first: if it exists, the stored grant remains unspent, even without an atomic commit.
    const create = [...redemptions]
      .sort(pluginFirst)
      .map(({ kind, hash, expiresAt }) => ({ key: spentKeyOf(kind, hash), value: marker, expiresAt }))
    const put = derivation === undefined ? records : [...records, replayRecord(request, at, derivation, attempt)]
    const written = settle(store, request.unsettled.splice(0), { create, put })
    return after(written, (existing) => existing.length === 0)
  }

  return async (request, mint) => {
    const { redemptions, continues, trace } = request
    const presented = continues === undefined ? redemptions : [continues, ...redemptions]
    const replayed = presented.find(({ spent }) => spent !== undefined)
    if (replayed !== undefined) return (await mint(await handleReplay(request, replayed))).response

    const issuing = issuanceFor(request)
    const issuance = isThenable(issuing) ? await issuing : issuing
    const { response, records, continued, facts } = await mint(issuance)
    if (!(await spend(request, issuance, records))) return (await mint(await handleLostRace(request))).response
    if (continued !== undefined) await store.put(continued.key, continued.value, continued.expiresAt)

    for (const redeemed of redemptions) {
      const { kind } = redeemed
      if (kind === 'plugin') continue
      const type = kind === 'refresh' ? 'refresh_rotated' : 'code_redeemed'
      recorder.record(trace, { type, ...aboutOf(redeemed, families) })
    }
    for (const fact of facts) recorder.record(trace, fact)
    return response
  }
}
