import { isOAuthError } from '../errors/oauth-error.ts'
import type { Trace } from '../events/recorder.ts'
import type { GrantRequest } from '../plugin/grant.ts'
import type { GrantCheck } from '../plugin/grant-check.ts'
import type { GrantKit } from '../plugin/grant-kit.ts'
import type { FailedProofs } from './failed-proofs.ts'
import type { CheckedResult } from './result.ts'

/** A grant check with its parsed parameters and its kit. */
export interface PreparedCheck {
  readonly check: GrantCheck
  readonly params: unknown
  readonly kit: GrantKit
}

/**
 * Runs the checks of a grant type. Counts failed proofs, which end a code at the tenth.
 *
 * @returns whether every demand is settled
 */
export type SettleDemands = (
  result: CheckedResult,
  checks: readonly PreparedCheck[],
  request: Omit<GrantRequest<unknown>, 'params'>,
  trace: Trace,
) => Promise<boolean>

export function createDemandSettlement(failedProofs: FailedProofs): SettleDemands {
  return async ({ demanded, stored }, checks, request, trace) => {
    const unsettled = new Set(Object.keys(demanded))
    for (const { check, params, kit } of checks) {
      const demand = demanded[check.settles]
      try {
        await check.check({ ...request, params, demand: demand as never }, kit)
      } catch (error) {
        const isFailedProof = demand !== undefined && isOAuthError(error) && error.code === 'invalid_grant'
        if (isFailedProof && stored !== undefined) await failedProofs.record(stored, request.client, trace)
        throw error
      }
      unsettled.delete(check.settles)
    }
    return unsettled.size === 0
  }
}
