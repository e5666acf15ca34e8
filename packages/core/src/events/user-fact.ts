/** What happened to a user on a page. Plugins record it with `kit.recordUser`. A `sid` is the id of a session, no secret. */
export type UserFact =
  | { readonly type: 'second_factor_succeeded'; readonly method: string }
  | { readonly type: 'passkey_authentication_succeeded' }
  | { readonly type: 'second_factor_failed' | 'passkey_authentication_failed'; readonly reason: string }
  /** The user has signed in at another provider. `idp` is its name here. */
  | { readonly type: 'upstream_sign_in_succeeded' | 'upstream_linked' | 'upstream_unlinked'; readonly idp: string }
  | { readonly type: 'upstream_sign_in_failed'; readonly idp: string; readonly reason: string }
  | { readonly type: 'upstream_refresh_failed'; readonly idp: string; readonly reason: string }
  /** The user has consented on a page. A remembered consent is no event. */
  | { readonly type: 'consent_given'; readonly scopes: readonly string[] }
  /** The user has denied a request, or canceled a sign-in. */
  | { readonly type: 'authorization_denied' }
  | { readonly type: 'session_started'; readonly sid: string; readonly amr: readonly string[] }
  /** `purpose`: what a mail is for. `by`: how the user was known, such as `sign_up` or `recovery`. */
  | { readonly type: 'mail_requested'; readonly purpose: string }
  | { readonly type: 'mail_failed' | 'mail_proof_failed'; readonly purpose: string; readonly reason: string }
  | { readonly type: 'account_created' | 'password_changed' | 'password_unchecked'; readonly by: string }
  /** Recorded by what ends the session, not when it expires. */
  | { readonly type: 'session_ended'; readonly sid: string }
  /** The user has changed something on the account page. `change` is a code, such as `access_withdrawn`. */
  | { readonly type: 'account_changed'; readonly change: string }
