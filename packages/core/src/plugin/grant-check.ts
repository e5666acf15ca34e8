import type { GenericSchema, InferOutput } from 'valibot'
import type { JsonObject, MaybePromise } from '../json.ts'
import type { GrantRequest } from './grant.ts'
import type { GrantKit } from './grant-kit.ts'

/**
 * What a stored grant can demand of the request that redeems it. A plugin adds its own demand by declaration merging:
 * `declare module '@grantry/core' { interface Proofs { my_demand: { ... } } }`.
 */
export interface Proofs {
  /** RFC 7636 section 4.3. */
  proof_key: { readonly challenge: string; readonly method: 'S256' | 'plain' }
}

/**
 * Settles one demand. It runs on every request of its grant types, also without a demand, so that it can refuse a proof that nothing asked for.
 * A demand that no check settles is refused by the core: leaving a security plugin out gives refusals, never a downgrade. Its `kit.records` are its own, the
 * same for each of its grant types: what it accepts once is accepted once.
 */
export interface GrantCheck<K extends keyof Proofs = keyof Proofs, S extends GenericSchema = GenericSchema> {
  readonly kind: 'grant-check'
  readonly settles: K
  readonly grantTypes: readonly string[]
  /** The fields that bring the proof. */
  readonly params: S
  /**
   * What discovery says of it, for example `code_challenge_methods_supported`. Lists of text are united with those of other checks; of the core's
   * members, `token_endpoint_auth_methods_supported` and `response_modes_supported` may be extended. Anything else that is set twice is refused at start.
   */
  readonly metadata?: JsonObject
  /**
   * Returns when the demand is settled; refuses by throwing an `OAuthError`. An `invalid_grant` for a demanded proof counts as a failed proof: ten of
   * them end an authorization code (wire contract, section 3).
   */
  check(
    request: GrantRequest<InferOutput<S>> & { readonly demand: Proofs[K] | undefined },
    kit: GrantKit,
  ): MaybePromise<void>
}

/** Makes a grant check of its parts, with `params` and `demand` typed. */
export function defineGrantCheck<const K extends keyof Proofs, const S extends GenericSchema>(
  check: Omit<GrantCheck<K, S>, 'kind'>,
): GrantCheck<K, S> {
  return { ...check, kind: 'grant-check' }
}
