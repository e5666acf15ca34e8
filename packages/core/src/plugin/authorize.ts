import type { Authorization } from '../records/authorization.ts'
import type { Confirmation } from './confirmation.ts'
import type { Demands } from './grant.ts'

/** What a user, or a policy of the host, has authorized. */
export interface NewGrant extends Omit<Authorization, 'audience' | 'act' | 'demands' | 'cnf'> {
  /** The kind of stored grant, as in `stored` of the grant that redeems it: `code` for an authorization code. */
  readonly kind: string
  readonly clientId: string
  /** The authorized scopes. Each must be allowed for the client. */
  readonly scopes: readonly string[]
  /**
   * The parameters of the authorization request, under their wire names. Grant checks read those that they know, such
   * as `code_challenge`; others are ignored.
   */
  readonly params?: Readonly<Record<string, string>> | undefined
  /**
   * The `redirect_uri` of the request, unchanged. Must be one of the client's `redirectUris`; a loopback URI may have
   * another port (RFC 8252 section 7.3).
   */
  readonly redirectUri?: string | undefined
  /**
   * Whether the request had no `redirect_uri`, so `redirectUri` is the only one of the client. The request that redeems the
   * grant then needs none either (RFC 6749 section 4.1.3). Default: `false`.
   */
  readonly omitsRedirectUri?: boolean | undefined
  /** What the request that redeems the grant must prove, besides what grant checks read from `params`. */
  readonly demands?: Partial<Demands> | undefined
  /** The keys that the request that redeems the grant must prove, such as those that a pushed request has proved. */
  readonly confirmation?: Confirmation | undefined
  /**
   * The epochs (`epochOf`, `epochOfClient`) when the user was authenticated or has decided, and when the client has sent
   * the request; `null` before any revocation. The grant is refused if there is now another one, even if the revocation
   * happens at that moment. Default: not compared.
   */
  readonly since?:
    | { readonly subject?: string | null | undefined; readonly client?: string | null | undefined }
    | undefined
  /** Seconds until which the grant can be redeemed. Default: `authorizationCodeLifetime` of the client. */
  readonly lifetime?: number | undefined
  /**
   * The SHA-256 (`kit.sha256`) of the credential that redeems the grant, if the client already has one. The credential
   * must have at least 128 random bits, such as `kit.randomId()`: guesses of it are not limited. Default: the core
   * creates one with 256 random bits.
   */
  readonly credentialHash?: string | undefined
}

/** A grant to which the user has not consented yet. */
export type ProposedGrant = Omit<
  NewGrant,
  'subject' | 'claims' | 'identityClaims' | 'since' | 'lifetime' | 'credentialHash'
>

/** @throws OAuthError as `authorize` does. Stores nothing. */
export type CheckAuthorization = (grant: ProposedGrant) => Promise<void>

/**
 * Stores what was authorized under a single-use credential. Revocation, replay detection and demands apply as for an
 * authorization code.
 *
 * @returns the credential, or `credentialHash` if it was given.
 * @throws OAuthError `unauthorized_client`, `invalid_request`, `invalid_scope` or `invalid_target`; `login_required`
 * or `access_denied` if the user or the client was revoked after `since`. `invalid_request`
 * with `details.reason` `credential_taken`: a grant of this kind is already stored under this `credentialHash`, also one
 * that was redeemed.
 */
export type Authorize = (grant: NewGrant) => Promise<string>
