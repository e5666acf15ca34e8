import type { Subject } from '../directory/user-service.ts'
import { OAuthError } from '../errors/oauth-error.ts'
import type { NewGrant } from '../parts/authorize.ts'
import type { Registry } from '../parts/registry.ts'
import type { Authorizations } from './authorize.ts'

/** An authorization request for a code, as the login page has parsed it. */
export interface CodeRequest extends Pick<NewGrant, 'clientId' | 'params' | 'nonce' | 'demands' | 'requestedClaims'> {
  /**
   * The `redirect_uri` of the request, unchanged. Must be one of the client's `redirectUris`; a loopback URI may have
   * another port (RFC 8252 section 7.3).
   */
  readonly redirectUri: string
  /** The scopes that the user consented to. Each must be allowed for the client. */
  readonly scopes: readonly string[]
  /** RFC 7636 section 4.2: `code_challenge` in `params`. Required for a public client. */
  readonly codeChallenge?: string | undefined
  /** Default: `S256`. `plain` requires `allowPlainCodeChallenge` of the client. */
  readonly codeChallengeMethod?: 'S256' | 'plain' | undefined
}

/** An authorization request that the user has consented to. */
export interface NewAuthorizationCode extends CodeRequest, Pick<NewGrant, 'claims' | 'identityClaims' | 'lifetime'> {
  readonly subject: Subject
}

/**
 * Validates an authorization request without storing anything. A login page calls it before it asks for a password.
 *
 * @throws OAuthError as `createAuthorizationCode` does, with the same rule for the redirect.
 */
export type CheckAuthorizationRequest = (request: CodeRequest) => Promise<void>

/**
 * Validates an authorization request and creates a code, which the login page sends to the redirect URI. A code is
 * valid for 60 seconds by default, and for one use. The same as `authorize` with the kind `code`.
 *
 * @throws OAuthError with an error code for the redirect (RFC 6749 section 4.1.2.1): `unauthorized_client`,
 * `invalid_request` or `invalid_scope`. Do not redirect if `details.reason` is `client_unknown` or
 * `redirect_uri_mismatch`; these are checked before anything else.
 */
export type CreateAuthorizationCode = (code: NewAuthorizationCode) => Promise<string>

export function createAuthorizationCodes(
  { open, authorizeNew }: Authorizations,
  registry: Registry,
): { readonly check: CheckAuthorizationRequest; readonly create: CreateAuthorizationCode } {
  /** Returns the request of `authorize`: with the two options for PKCE under their wire names. */
  function requestOf<R extends CodeRequest>(input: R) {
    const { codeChallenge, codeChallengeMethod, ...request } = { ...input }
    // RFC 7636 section 4.3: the default on the wire is `plain`.
    const method = codeChallengeMethod ?? (codeChallenge === undefined ? undefined : 'S256')
    const grantType = registry.redeemerOf('code')?.grantType ?? ''
    if (method !== undefined && !registry.demandsBy(grantType, 'code_challenge')) {
      // Otherwise the code could be redeemed without the verifier.
      throw new OAuthError('invalid_request', 'The code_challenge is not supported', {
        reason: 'challenge_unsupported',
      })
    }
    const params = {
      ...request.params,
      ...(codeChallenge !== undefined && { code_challenge: codeChallenge }),
      ...(method !== undefined && { code_challenge_method: method }),
    }
    return { kind: 'code', ...request, params }
  }

  return {
    check: async (request) => {
      await open(requestOf(request))
    },
    create: async (code) => authorizeNew(requestOf(code)),
  }
}
