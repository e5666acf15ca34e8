import { markerAt } from '../records/envelope.ts'
import { spentKeyOf } from '../records/keys.ts'
import { isSpentRecord, unreadableMarker } from '../records/schemas.ts'
import type { JsonObject } from '../types.ts'
import { aboutOf, type CommitRequest, type MintFrom, type ReplayDeps, refreshTokenIn } from './commit-request.ts'
import { createGrace, hasGrace } from './grace.ts'
import type { Issuances } from './issuance.ts'
import type { CredentialDetails } from './redemption.ts'
import { createFindSuccessor } from './successor.ts'

/** Responds to requests whose credentials are spent. */
interface Replays {
  /** @throws OAuthError `invalid_grant` unless the request may have the successor of its refresh token again. */
  respond(request: CommitRequest, spent: CredentialDetails, mint: MintFrom): Promise<JsonObject>
  /** Another request has spent a credential of this one since it was read. */
  respondToLostRace(request: CommitRequest, mint: MintFrom): Promise<JsonObject>
}

/** The type of the event, and the reason of the revocation. */
const replayTypeOf = (kind: string) =>
  kind === 'refresh' ? 'refresh_reused' : kind === 'plugin' ? 'redemption_replayed' : 'code_replayed'

/**
 * Creates what happens to requests whose credentials are spent.
 *
 * @see docs/decisions/0028-end-of-the-retry-window.md
 */
export function createReplays(deps: ReplayDeps, issuances: Issuances): Replays {
  const { store, families, recorder } = deps
  const findSuccessor = createFindSuccessor(issuances, deps)
  const respondInGrace = createGrace(findSuccessor, issuances, deps)

  /**
   * Returns the issuance of the first response to a refresh request, inside the retry window and until the successor is
   * used. A client that uses the successor has received the response, so a later use of the old token comes from
   * another party (RFC 9700 section 4.14.2).
   */
  async function firstIssuanceOf(request: CommitRequest, redeemed: CredentialDetails) {
    const successor = await findSuccessor(request, redeemed, request.client.refreshToken.retryWindow)
    if (successor?.isRetry !== true) return undefined
    const { issuance, spent, record } = successor
    // Its client may reuse tokens now, which leaves no marker.
    const isContinued = record !== undefined && record.generation > (redeemed.record?.generation ?? 0) + 1
    return spent !== undefined || isContinued ? undefined : issuance
  }

  const respond: Replays['respond'] = async (request, redeemed, mint) => {
    const { client, trace, refuse } = request
    const { kind, record, spent } = redeemed
    if (spent?.ended === true) throw refuse('code_ended')
    if (hasGrace(request, redeemed)) return respondInGrace(request, redeemed, mint)
    const issuance = await firstIssuanceOf(request, redeemed)
    const reason = replayTypeOf(kind)
    const type = issuance === undefined ? reason : 'refresh_retried'
    recorder.record(trace, { type, ...aboutOf(redeemed, families) })
    if (issuance !== undefined) return (await mint(issuance)).response
    if (record !== undefined) await families.revoke(record, client, reason, trace)
    throw refuse(reason)
  }

  return {
    respond,
    async respondToLostRace(request, mint) {
      const { redemptions } = request
      const markers = await store.getAll(
        redemptions.map(({ kind, hash }) => markerAt(spentKeyOf(kind, hash), isSpentRecord, unreadableMarker)),
      )
      const known = redemptions.map((redeemed, index) => ({ ...redeemed, spent: markers[index] }))
      const lost = known.filter(({ spent }) => spent !== undefined)
      // A concurrent retry may have won the race; then its response serves both. If no marker is left, it has expired.
      return respond(request, refreshTokenIn(lost) ?? lost[0] ?? (known[0] as CredentialDetails), mint)
    },
  }
}
