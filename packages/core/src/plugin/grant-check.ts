import type { GenericSchema, InferOutput } from 'valibot'
import type { MaybePromise } from '../types.ts'
import type { Demands, GrantRequest } from './grant.ts'
import type { GrantKit } from './grant-kit.ts'

/**
 * Settles one demand. It runs on every request of its grant types, also without a demand, so that it can reject a proof
 * that was not demanded. The core rejects a demand that no check settles: omitting a security plugin causes refusals,
 * never a downgrade. `kit.records` is the same for all grant types, so it can enforce single use across them.
 */
export interface GrantCheck<K extends keyof Demands = keyof Demands, S extends GenericSchema = GenericSchema> {
  readonly kind: 'grant-check'
  readonly settles: K
  readonly grantTypes: readonly string[]
  /** The schema of the parameters that contain the proof. */
  readonly params: S
  /**
   * Returns when the demand is settled, and throws an `OAuthError` to refuse. An `invalid_grant` for a demanded proof
   * counts as a failed proof; ten failed proofs end an authorization code (wire contract, section 3).
   */
  check(
    request: GrantRequest<InferOutput<S>> & { readonly demand: Demands[K] | undefined },
    kit: GrantKit,
  ): MaybePromise<void>
}

/** Defines a grant check, with `params` and `demand` typed. */
export function defineGrantCheck<const K extends keyof Demands, const S extends GenericSchema>(
  check: Omit<GrantCheck<K, S>, 'kind'>,
): GrantCheck<K, S> {
  return { ...check, kind: 'grant-check' }
}
