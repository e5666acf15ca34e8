import { settle } from '../abuse/settlement.ts'
import type { RetrySecret } from '../keys/key-ring.ts'
import { assertUnused, type KeyProofs, markersOf } from '../parts/token-binding.ts'
import { after, isThenable } from '../promises.ts'
import type { NewRecord } from '../records/envelope.ts'
import { spentKeyOf } from '../records/keys.ts'
import type { SpentRecord } from '../records/schemas.ts'
import { randomId } from '../runtime.ts'
import type { JsonObject, MaybePromise } from '../types.ts'
import { aboutOf, type CommitRequest, type MintFrom, type ReplayDeps, refreshTokenIn } from './commit-request.ts'
import { createIssuances, type Derivation, type Issuance } from './issuance.ts'
import type { CredentialDetails } from './redemption.ts'
import { createReplays } from './replays.ts'
import { repeatableFor, replayKeyOf } from './successor.ts'

/**
 * Mints the tokens of a request, stores them, spends the credentials, and returns the response. No other part of the
 * core spends a credential. A retry gets the tokens of the first response again.
 *
 * @throws OAuthError `invalid_grant` if a credential is spent and the request is not a retry.
 */
export type Commit = (request: CommitRequest, mint: MintFrom) => Promise<JsonObject>

const pluginFirst = (left: CredentialDetails, right: CredentialDetails): number =>
  Number(right.kind === 'plugin') - Number(left.kind === 'plugin')

/** What a retry needs, for a client that does not receive the response. */
function replayRecord({ client, retryId }: CommitRequest, at: number, derivation: Derivation, key: string): NewRecord {
  return { key, value: { request: retryId(), ...derivation }, expiresAt: at + repeatableFor(client) }
}

interface CommitDeps extends ReplayDeps {
  readonly retrySecrets: readonly RetrySecret[]
  readonly useUp: KeyProofs['useUp']
}

export function createCommit(deps: CommitDeps): Commit {
  const { store, families, retrySecrets, useUp, runtime, recorder } = deps
  const issuances = createIssuances(retrySecrets, runtime)
  const replays = createReplays(deps, issuances)

  function issuanceFor({ client, redemptions }: CommitRequest): MaybePromise<Issuance> {
    // Only the rotation of a refresh token can be retried.
    const credential = refreshTokenIn(redemptions)?.credential
    if (credential === undefined || repeatableFor(client) === 0) return issuances.random()
    return issuances.repeatable(credential)
  }

  /**
   * Stores the tokens, and spends the proofs and the credentials. Returns `false` if a credential was already spent.
   *
   * @throws OAuthError that of the plugin, if a proof was already used. Then no credential is spent.
   */
  function spend(
    request: CommitRequest,
    { at, derivation }: Issuance,
    records: readonly NewRecord[],
  ): MaybePromise<boolean> {
    const { redemptions, proofs } = request
    const attempt = redemptions.length + proofs.length === 0 ? '' : randomId(runtime, 12)
    const marker: SpentRecord = { spentAt: at, attempt }
    // Proofs first, then the plugin's own credential: if it exists, the stored grant remains unspent, even without an
    // atomic commit.
    const credentials = [...redemptions]
      .sort(pluginFirst)
      .map(({ kind, hash, expiresAt }) => ({ key: spentKeyOf(kind, hash), value: marker, expiresAt }))
    const create = proofs.length === 0 ? credentials : [...markersOf(proofs, marker, runtime.now()), ...credentials]
    const put =
      derivation === undefined
        ? records
        : [...records, replayRecord(request, at, derivation, replayKeyOf(attempt, runtime))]
    const settlements = request.unsettled.splice(0)
    const written = settle(store, settlements, { create, put })
    return after(written, (existing) => {
      // Nothing was written. The right password still counts, also for a request that is refused.
      if (existing.length > 0) request.unsettled.push(...settlements)
      assertUnused(proofs, existing)
      return existing.length === 0
    })
  }

  return async (request, mint) => {
    const { redemptions, continues, trace } = request
    const presented = continues === undefined ? redemptions : [continues, ...redemptions]
    const replayed = presented.find(({ spent }) => spent !== undefined)
    if (replayed !== undefined) {
      // The proofs come first: a repeated request, with the same proof, must not end the family.
      await useUp(request.proofs)
      return replays.respond(request, replayed, mint)
    }

    const issuing = issuanceFor(request)
    const issuance = isThenable(issuing) ? await issuing : issuing
    const { response, records, successor, continued, facts } = await mint(issuance)
    const created = successor === undefined ? records : [...records, successor]
    if (!(await spend(request, issuance, created))) {
      await useUp(request.proofs)
      return replays.respondToLostRace(request, mint)
    }
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
