import type { GrantRecord } from '../records/schemas.ts'
import type { JsonObject } from '../types.ts'
import { aboutOf, type CommitRequest, type MintFrom, type ReplayDeps } from './commit-request.ts'
import type { Issuance, Issuances } from './issuance.ts'
import type { CredentialDetails } from './redemption.ts'
import type { createFindSuccessor, Successor } from './successor.ts'

/** What a refresh token allows, and what its use requires. */
const rightsOf = ({ scopes, audience, demands, cnf }: GrantRecord): string =>
  JSON.stringify([scopes, audience, demands, cnf])

/** Whether the rule of `refreshToken.gracePeriod` applies: the client of the request is the holder of the token. */
export const hasGrace = ({ client }: CommitRequest, { kind, record }: CredentialDetails): boolean =>
  kind === 'refresh' && client.refreshToken.gracePeriod > 0 && record?.clientId === client.clientId

/**
 * Creates the responses to clients whose processes share a refresh token.
 *
 * @see docs/decisions/0154-refresh-tokens-of-several-processes.md
 */
export function createGrace(
  findSuccessor: ReturnType<typeof createFindSuccessor>,
  issuances: Issuances,
  { store, families, runtime, recorder }: ReplayDeps,
) {
  /** Returns the values of the response. It gets a new access token unless the first one has most of its time left. */
  function issuanceFor({ client, lifetime }: CommitRequest, { issuance, isRetry, spent }: Successor): Issuance {
    const { accessTokenLifetime, refreshToken } = client
    const whole = Math.min(lifetime ?? accessTokenLifetime, accessTokenLifetime)
    if (spent !== undefined) {
      // The holder presents a token that was already replaced twice. The access token ends while the grace period of
      // the successor still runs, so that the holder can refresh again.
      const left = spent.spentAt + refreshToken.gracePeriod - issuance.now
      return issuances.renewed(issuance, Math.max(1, Math.min(whole, Math.floor(left / 2))))
    }
    const isFresh = (issuance.now - issuance.at) * 2 <= whole
    return isRetry && isFresh ? issuance : issuances.renewed(issuance, whole)
  }

  async function responseOf(request: CommitRequest, redeemed: CredentialDetails, earlier: Successor, mint: MintFrom) {
    const { trace } = request
    const issuance = issuanceFor(request, earlier)
    const { response, records, successor, facts } = await mint(issuance)
    // The first request may have bound the successor to a key, or to a demand, that this request does not meet.
    if (
      earlier.record !== undefined &&
      (successor === undefined || rightsOf(successor.value) !== rightsOf(earlier.record))
    )
      return undefined
    recorder.record(trace, { type: 'refresh_retried', ...aboutOf(redeemed, families) })
    if (issuance === earlier.issuance) return response
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
    const successor = await findSuccessor(request, redeemed, gracePeriod)
    const isLost = successor?.isRetry === true && successor.issuance.at + retryWindow > runtime.now()
    // A grace prolongs no lifetime: what it returns must be of use.
    const isUsable = successor?.record === undefined ? isLost : successor.record.redeemableUntil > runtime.now()
    // Another credential beside the refresh token is for one request.
    const isAllowed = successor?.isRetry === true || redemptions.length === 1
    const response =
      successor !== undefined && isUsable && isAllowed
        ? await responseOf(request, redeemed, successor, mint)
        : undefined
    if (response !== undefined) return response
    const reason = isUsable ? 'request_differs' : 'grace_over'
    recorder.record(trace, { type: 'refresh_outdated', reason, ...aboutOf(redeemed, families) })
    throw refuse('refresh_outdated')
  }
}
