import { isOAuthError } from '../errors/oauth-error.ts'
import type { Trace } from '../events/recorder.ts'
import type { GrantRequest } from '../plugin/grant.ts'
import type { GrantCheck } from '../plugin/grant-check.ts'
import type { GrantKit } from '../plugin/grant-kit.ts'
import type { OwnedPart } from '../registry/collect.ts'
import { type Contributed, noContribution, withContribution } from './contributions.ts'
import type { FailedProofs } from './failed-proofs.ts'
import type { CheckedResult } from './result.ts'

/** A grant check with its parsed parameters and its kit. */
export interface PreparedCheck {
  readonly check: OwnedPart<GrantCheck>
  readonly params: unknown
  readonly kit: GrantKit
}

/**
 * Runs the checks of a grant type. Counts failed proofs, which end a stored grant at the tenth.
 *
 * @returns what the checks contribute; `undefined` if a demand is not settled.
 */
export type SettleDemands = (
  result: CheckedResult,
  checks: readonly PreparedCheck[],
  request: Omit<GrantRequest<unknown>, 'params'> & { readonly grantType: string },
  trace: Trace,
) => Promise<Contributed | undefined>

export function createDemandSettlement(failedProofs: FailedProofs): SettleDemands {
  return async ({ demanded, stored }, checks, request, trace) => {
    const unsettled = new Set(Object.keys(demanded))
    let contributed = noContribution
    for (const { check, params, kit } of checks) {
      const { settles = '' } = check.part as GrantCheck & { readonly settles?: string }
      const demand = demanded[settles]
      try {
        const contribution = await check.part.check({ params, demand: demand as never, ...request }, kit)
        contributed = withContribution(contributed, check, contribution)
      } catch (error) {
        const isFailedProof = demand !== undefined && isOAuthError(error) && error.code === 'invalid_grant'
        if (isFailedProof && stored !== undefined) await failedProofs.record(stored, request.client, trace)
        throw error
      }
      unsettled.delete(settles)
    }
    return unsettled.size === 0 ? contributed : undefined
  }
}
