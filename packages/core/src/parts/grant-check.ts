import type { Client } from '../directory/client.ts'
import type { Subject } from '../directory/user-service.ts'
import type { OutputOf, Schema } from '../standard-schema.ts'
import type { JsonObject, MaybePromise } from '../types.ts'
import type { Confirmation, Demands, GrantRequest } from './grant.ts'
import type { GrantKit } from './grant-kit.ts'
import type { Kit } from './kit.ts'
import type { Defined } from './part-kind.ts'

/** What a grant check adds to a token request or to a stored grant. It can narrow and bind, but not widen. */
export interface Contribution<K extends keyof Demands = keyof Demands> {
  /** The audiences of the access token: a subset of those that the scopes allow (RFC 8707 section 2). */
  readonly audience?: readonly string[] | undefined
  /** A demand that the stored grant, or the refresh token of this response, makes. The check itself settles it. */
  readonly demand?: Demands[K] | undefined
}

/** What a grant check adds to a stored grant. */
export interface AuthorizationContribution<K extends keyof Demands = keyof Demands> extends Contribution<K> {
  /** Keys that the authorization request names, which the request that redeems the grant must prove (`dpop_jkt`). */
  readonly confirmation?: Confirmation | undefined
}

/** What a grant check reads from an authorization request. */
export interface AuthorizationCheck<K extends keyof Demands, S extends Schema> {
  /** The schema of the parameters, under their wire names. */
  readonly params: S
  /**
   * Returns what the stored grant contains.
   *
   * @param request `required`: whether a stored grant of this client must make the demand; `lifetime`: the seconds until
   * which the stored grant can be redeemed
   * @throws OAuthError `invalid_request` or `invalid_target` to refuse the authorization request.
   */
  check(
    request: {
      readonly client: Client
      readonly params: OutputOf<S>
      readonly required: boolean
      readonly lifetime: number
    },
    kit: Kit,
  ): MaybePromise<AuthorizationContribution<K> | undefined>
}

/**
 * Checks the requests of its grant types. A check that settles a demand runs for every request of these grant types, so
 * that it can also reject a proof that was not demanded. The core refuses a request with a demand that no check settles:
 * omitting a security plugin causes refusals, never a downgrade. All grant types share `kit.records`, so the check can
 * enforce single use across them.
 */
export interface GrantCheck<
  K extends keyof Demands = keyof Demands,
  S extends Schema = Schema,
  A extends Schema = Schema,
> extends Defined<'grant-check'> {
  readonly settles?: K | undefined
  readonly grantTypes: readonly string[] | 'all'
  /** The schema of the parameters that it reads. */
  readonly params: S
  /** What it reads from an authorization request, whose stored grant one of its grant types redeems. */
  readonly authorization?: AuthorizationCheck<K, A> | undefined
  /**
   * Throws an `OAuthError`, from `kit.refuse`, to refuse; otherwise the demand is settled. An `invalid_grant` for
   * a demanded proof counts as a failed proof; ten failed proofs end a stored grant (wire contract, section 3).
   */
  check(
    request: GrantRequest<OutputOf<S>> & {
      readonly grantType: string
      readonly demand: Demands[K] | undefined
      /** The user of the tokens, and how the user was authenticated; `undefined` for tokens without a user. */
      readonly subject?: Subject | undefined
      /** The claims of the access token that the grant returned, or that the stored grant has. */
      readonly claims?: JsonObject | undefined
    },
    kit: GrantKit,
  ): MaybePromise<Contribution<K> | undefined>
}
