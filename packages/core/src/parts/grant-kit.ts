import type { Subject, UserCredentials } from '../directory/user-service.ts'
import type { FoundAuthorization } from '../records/authorization.ts'
import type { Json } from '../types.ts'
import type { Kit } from './kit.ts'

declare const redemption: unique symbol

/** One credential. Only the grant kit creates it; a copy is none. */
export interface Redemption {
  readonly [redemption]: true
}

/**
 * The stored authorization behind the credential that the client presents, such as a code or a refresh token. Return it
 * in `redeems` to spend the credential, or in `continues` to keep it.
 */
export interface StoredGrant extends FoundAuthorization, Redemption {
  /** The client that it was issued to. Pass it to `assertClient` before anything else is compared. */
  readonly clientId: string
}

/**
 * A valid token of this provider. Return it in `continuesFamilyOf`, so that the new tokens are revoked with its
 * family.
 */
export interface ValidatedToken {
  /** The client that it was issued to. */
  readonly clientId: string
  /** The claims of the token, with a `sub` only if it has a user. */
  readonly claims: Readonly<Record<string, Json>>
  /** Whether the token has no user, but a `sub`: that of its client (`clientTokenSubject`). It is not in `claims`. */
  readonly hasClientSubject: boolean
}

/** What a grant can use. It cannot issue a token: the core does that, after every check. */
export interface GrantKit extends Kit {
  /**
   * Looks up a stored grant without spending it. Returns `undefined` if the credential is unknown, expired or revoked.
   *
   * @param kind `code`, `refresh`, or the kind of `stored` of a plugin's grant
   */
  findGrant(kind: string, credential: string): Promise<StoredGrant | undefined>
  /**
   * Refuses, with the reason `client_mismatch`, what was issued to another client than the one that sends the request, such
   * as a stored grant. The core does the same for a stored grant that the result redeems, but not before the grant has
   * compared everything else.
   *
   * @throws OAuthError the refusal of the grant (`refusal`, `refusalCode`)
   */
  assertClient(clientId: string): void
  /**
   * Refuses, with the reason `proof_missing` or `wrong_key`, what is bound to keys that the request has not proved, such
   * as a JWT of another issuer with the claim `cnf`. The core does the same for stored grants, and for the tokens of
   * `validateToken`.
   *
   * @param cnf `undefined` for what is bound to no key
   * @throws OAuthError the refusal of the grant
   */
  assertKeys(cnf: unknown): void
  /**
   * Registers a single-use credential of the plugin, such as the `jti` of an assertion. Return it in `redeems` to spend
   * it.
   * @param expiresAt epoch seconds until which a second use must be refused
   */
  redemption(credential: string, expiresAt: number): Redemption
  /**
   * Calls `users.authenticate`. Returns `undefined` for every refusal, whatever its reason.
   * If another process revokes the user after this call, the tokens of the request are revoked too.
   * @throws OAuthError `slow_down` (429) after too many failures of this user name or client.
   */
  authenticateUser(credentials: UserCredentials): Promise<Subject | undefined>
  /**
   * Validates a token of this provider, issued to any client. Returns `undefined` if it is not valid. For a refresh token,
   * use `findGrant`.
   *
   * @throws OAuthError as `assertKeys`, if it is bound to a key that this request has not proved.
   */
  validateToken(token: string, type: 'access_token' | 'id_token'): Promise<ValidatedToken | undefined>
}
