import * as v from 'valibot'
import type { Demands } from '../parts/grant.ts'
import type { AuthorizationCheck, GrantCheck } from '../parts/grant-check.ts'
import { type Defined, memberObject, parameters, partKind, required, text } from '../parts/part-kind.ts'
import type { Schema } from '../standard-schema.ts'
import { createDemandSettlement, type SettleDemands } from './contributions.ts'
import { createFailedProofs } from './failed-proofs.ts'

/** How the core runs grant checks. */
export interface GrantChecks {
  readonly createSettlement: (deps: Parameters<typeof createFailedProofs>[0]) => SettleDemands
}

const grantCheckKind = /* @__PURE__ */ partKind<GrantCheck, GrantChecks>('grant-check', {
  title: 'grant check',
  schemas: () => ({
    settles: v.optional(text(/./u, 'must be the name of the demand that it settles')),
    grantTypes: v.custom(
      (types) =>
        types === 'all' ||
        (Array.isArray(types) && types.length > 0 && types.every((type) => typeof type === 'string')),
      "must be an array of the grant types that it runs on, or 'all'",
    ),
    params: parameters(),
    authorization: v.optional(
      memberObject<AuthorizationCheck<keyof Demands, Schema>>({ params: parameters(), check: required() }),
    ),
    check: required(),
  }),
  collect: () => ({ createSettlement: (deps) => createDemandSettlement(createFailedProofs(deps)) }),
})

/** Defines a grant check, with `params` and `demand` typed. */
export function defineGrantCheck<
  const K extends keyof Demands,
  const S extends Schema,
  const A extends Schema = Schema,
>(check: Omit<GrantCheck<K, S, A>, keyof Defined>): GrantCheck<K, S, A> {
  return { ...check, kind: 'grant-check', '~kind': grantCheckKind }
}
