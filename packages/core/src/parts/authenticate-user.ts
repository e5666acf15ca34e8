import type { Client } from '../directory/client.ts'
import type { Subject, UserCredentials } from '../directory/user-service.ts'
import type { TraceContext } from '../events/trace-context.ts'
import type { MaybePromise } from '../types.ts'

/** The context of a login. The `connection` that an adapter passes with a request is compatible. */
export interface LoginContext {
  /** The address of the user, not of the login page's server. Without it, the limits per address do not apply. */
  readonly clientAddress?: string | undefined
  /**
   * The client that sent the user to the login page. Failures count for this client, as those of the password grant do.
   */
  readonly clientId?: string | undefined
  /** Instead of `clientId`: the client, if it was found in this HTTP request. Saves a look-up. */
  readonly client?: Client | undefined
  readonly traceContext?: TraceContext | undefined
  /**
   * Whether a second factor follows, so that the event is `user_password_accepted`. Called once, with the user whose password
   * was right. Default: no.
   */
  readonly needsSecondFactor?: ((sub: string) => Promise<boolean>) | undefined
  /**
   * Reads the state that you store with the result, so that a change during the check of the password has an effect.
   * Returns the time of the last change in epoch seconds, or `undefined` if you do not know it. Called before the
   * check for the user who is expected, if there is one; after the check if the user is another one; and before a
   * second check if the state has just changed. The last call counts. Need not read the epoch of the user:
   * `authorize` knows it by the returned subject.
   */
  readonly readState?: ((sub: string) => MaybePromise<number | undefined>) | undefined
}

/**
 * Checks a user name and password with `users.authenticate`, for login pages. Applies the limits and records the events
 * of the password grant.
 *
 * @returns the subject for `authorize`; `undefined` for a wrong user name or password, and for one that
 * is empty or too long (256 and 1024 characters)
 * @throws OAuthError `slow_down` after too many failures: the password was not checked, and `details.retryAfter` is in
 * seconds.
 * @throws OAuthError `unauthorized_client` (`details.reason`: `client_unknown`) for an unknown or disabled `clientId`.
 * @throws OAuthError `temporarily_unavailable` when the storage or the user service is not available.
 * @throws TypeError when an argument is malformed or the provider has no `users.authenticate`.
 * @see wire contract, section 3, `password`; docs/guides/abuse-control.md
 */
export type AuthenticateUser = (credentials: UserCredentials, context?: LoginContext) => Promise<Subject | undefined>

/**
 * Remembers the address at which a user has just chosen this password, as a right password at a login does: earlier
 * guesses at the account do not lock the user out at this address. Call it after the user has proved to be `sub` in
 * another way, such as by a mail or a session. Has no effect unless `users.authenticate` returns this `sub`, so
 * guesses at other users stay counted, nor if no plugin names `passwords`. Never rejects: an event reports a failure.
 *
 * @see docs/guides/abuse-control.md, "A new password"
 */
export type RememberAddress = (
  credentials: UserCredentials,
  owner: Pick<LoginContext, 'clientAddress' | 'client'> & { readonly sub: string },
) => Promise<void>

/**
 * Returns the epoch of the user (`null` before any revocation) that was current before the password of this subject was
 * checked; `undefined` unless `authenticateUser` has returned this very object.
 */
export type ProvedEpochOf = (subject: Subject) => string | null | undefined
