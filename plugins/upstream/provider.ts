import type { Kit } from '@grantry/core'
import type { ClientAuth } from 'openid-client'

/** What an upstream provider states about a user. Not trusted beyond its own users. */
export interface UpstreamClaims {
  /** The issuer under which `sub` is unique: that of the provider, or of its tenant. */
  readonly iss: string
  /** At most 255 characters. */
  readonly sub: string
  readonly [claim: string]: unknown
}

/** The endpoints of a provider without OpenID Connect. */
export interface OAuthEndpoints {
  readonly authorization: string
  readonly token: string
}

/** A request to the API of a provider with the access token of its user. */
export type UpstreamGet = (url: string) => Promise<unknown>

/**
 * The differences between a provider and one that follows OpenID Connect. Presets have an adapter; a configuration file
 * cannot.
 */
export interface ProviderAdapter {
  /** For a provider with plain OAuth 2.0: it has no metadata and no identity tokens. */
  readonly endpoints?: OAuthEndpoints | undefined
  /** Reads the claims of the user, without `iss`, with plain OAuth 2.0. */
  readonly readClaims?: ((get: UpstreamGet) => Promise<Readonly<Record<string, unknown>> | undefined>) | undefined
  /** Returns the client authentication, if none of the usual methods fits. */
  readonly authenticate?: ((kit: Pick<Kit, 'now'>) => ClientAuth) | undefined
  /** Returns the issuer that identity tokens with these claims must have; `undefined` refuses them. */
  readonly issuerOf?: ((claims: Readonly<Record<string, unknown>>) => string | undefined) | undefined
  /** Returns the claim that names the user, if it is not `sub`. */
  readonly userOf?: ((claims: Readonly<Record<string, unknown>>) => string | undefined) | undefined
  /** Returns the reason why the user may not sign in, for events; `undefined` if the user may. */
  readonly refuses?: ((claims: Readonly<Record<string, unknown>>) => string | undefined) | undefined
  /** Returns further claims from what the provider has sent to the callback, such as a name that it sends only once. */
  readonly claimsOf?: ((response: Readonly<Record<string, string>>) => Readonly<Record<string, unknown>>) | undefined
  /**
   * Whether the provider has verified the mail address of its user. Default: `email_verified` is `true`, or `"true"` as
   * some providers write it.
   */
  readonly verifiesMail?: ((claims: Readonly<Record<string, unknown>>) => boolean) | undefined
}
