import type { Client } from '../directory/client.ts'
import type { Authorization } from '../records/authorization.ts'
import type { Confirmation, Demands } from './grant.ts'

/** What a client asks a user for. */
export interface AuthorizationRequest extends Pick<Authorization, 'requestedClaims' | 'nonce'> {
  /** The kind of stored grant, as in `stored` of the grant that redeems it: `code` for an authorization code. */
  readonly kind: string
  readonly clientId: string
  /** The scopes. Each must be allowed for the client. */
  readonly scopes?: readonly string[] | undefined
  /**
   * The parameter `scope`, instead of `scopes`. Scopes that the client cannot get are ignored, unless the option
   * `unavailableScopes` refuses them.
   */
  readonly scope?: string | undefined
  /**
   * The parameters of the authorization request, under their wire names. Grant checks read those that they know, such
   * as `code_challenge`; others are ignored. A `code_challenge` that none of them reads is refused.
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
   * The epoch (`epochOfClient`) when the client has sent the request; `null` before any revocation. `authorize` refuses if
   * there is now another one. Default: not compared.
   */
  readonly clientEpoch?: string | null | undefined
  /** Seconds for which the grant can be redeemed. Default: `authorizationCodeLifetime` of the client. */
  readonly lifetime?: number | undefined
}

/** An API that a client asks for. */
export interface ProposedResource {
  readonly audience: string
  readonly scopes: readonly string[]
}

declare const proposal: unique symbol

/**
 * An authorization request that was checked, before there is a user. Only `openAuthorization` creates it; a copy is none.
 * It is a value of one HTTP request: open a stored request again, because its client can have changed.
 */
export interface Proposal {
  readonly [proposal]: true
  readonly client: Client
  readonly redirectUri: string | undefined
  /** The family of the tokens, if a user authorizes it, for `provider.revoke({ family })`. */
  readonly family: string
  /** The scopes that the user can authorize. */
  readonly scopes: readonly string[]
  /**
   * The APIs at which those of the scopes that belong to several could be used, as `scope audience`: those that the request
   * names, or all. A consent to a scope of one API is none to that of another.
   */
  readonly reach: readonly string[]
  /** The APIs that tokens can be for, with the scopes that can be used there. A page can name them. */
  readonly resources: readonly ProposedResource[]
  /** Whether the request names them (RFC 8707), so that without a scope of one of them it gets no token. */
  readonly namesResources: boolean
}

/** What a user, or a policy of the host, has authorized of a proposal. */
export interface Approval extends Pick<Authorization, 'subject' | 'claims' | 'identityClaims'> {
  /** A subset of the scopes of the proposal. Default: all of them. */
  readonly scopes?: readonly string[] | undefined
  /**
   * The epoch (`epochOf`) when the user was authenticated or has decided; `null` before any revocation. `authorize` refuses
   * if there is now another one, even if the revocation happens at that moment. Default: that of the password, if `subject`
   * is the object that `authenticateUser` has returned; otherwise not compared.
   */
  readonly subjectEpoch?: string | null | undefined
  /**
   * The epoch of the client (`epochOfClient`) when a remembered consent was read; `null` before any revocation. `authorize`
   * refuses if there is now another one. Default: not compared.
   */
  readonly clientEpoch?: string | null | undefined
  /**
   * The epoch of the access (`withdrawal` of `epochsOf`) when a remembered consent was read; `null` before any. `authorize`
   * refuses if there is now another one. Default: not compared.
   */
  readonly withdrawalEpoch?: string | null | undefined
  /**
   * The SHA-256 (`kit.sha256`) of the credential that redeems the grant, if the client already has one. The credential
   * must have at least 128 random bits, such as `kit.randomId()`: guesses of it are not limited. Default: the core
   * creates one with 256 random bits.
   */
  readonly credentialHash?: string | undefined
}

/**
 * Checks an authorization request, and stores nothing. The client and the redirect URI are checked first: do not redirect
 * if `details.reason` is `client_unknown` or `redirect_uri_mismatch`.
 *
 * @param known the client, if `findClient` or the caller of an endpoint has returned it in this HTTP request. Saves a
 * look-up. A client that was found earlier, or elsewhere, is looked up again.
 * @throws OAuthError `unauthorized_client`, `invalid_request`, `invalid_scope` or `invalid_target`.
 */
export type OpenAuthorization = (request: AuthorizationRequest, known?: Client) => Promise<Proposal>

/**
 * Stores what was authorized of a proposal under a single-use credential. Revocation, replay detection and demands apply
 * as for an authorization code.
 *
 * @returns the credential, or `credentialHash` if it was given.
 * @throws OAuthError `invalid_scope` for a scope that is not in the proposal; `login_required` or `access_denied` if the
 * user or the client was revoked since, `consent_required` if the access was withdrawn. `invalid_request` with `details.reason` `credential_taken`: a grant of this kind is
 * already stored under this `credentialHash`, also one that was redeemed.
 * @throws TypeError for a value that `openAuthorization` of this provider has not returned, and for a proposal that was
 * authorized before.
 */
export type Authorize = (proposal: Proposal, approval: Approval) => Promise<string>

/**
 * Returns the epochs of the user (`epochOf`) and the client (`epochOfClient`) that `authorize` has read for what was authorized
 * of a proposal. What is remembered about an authorization carries them, so that a revocation since ends both.
 *
 * @throws TypeError for a proposal that was not authorized.
 */
export type AuthorizedEpochs = (proposal: Proposal) => {
  readonly subject?: string | undefined
  readonly client?: string | undefined
  /** It changes when the user withdraws the access of the client. */
  readonly withdrawal?: string | undefined
}
