/**
 * The demands that a stored grant can make of the request that redeems it. A plugin adds a demand by declaration
 * merging: `declare module '@grantry/core' { interface Proofs { my_demand: { ... } } }`.
 */
export interface Proofs {
  /** RFC 7636 section 4.3. */
  proof_key: { readonly challenge: string; readonly method: 'S256' | 'plain' }
}
