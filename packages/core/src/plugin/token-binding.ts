import type { Client } from '../directory/client.ts'
import type { MaybePromise } from '../types.ts'
import type { EndpointRequest } from './endpoint.ts'
import type { Kit } from './kit.ts'

/** A request that may prove a key. */
export interface ProofRequest extends EndpointRequest {
  /** The client that the request has authenticated or, for an access token, the client that it was issued to. */
  readonly client: Client
  /** The access token that the request presents. */
  readonly accessToken: string | undefined
  /**
   * Whether it is a request to the token endpoint. Other requests of a client, such as a pushed authorization request,
   * can prove a key, but need not (RFC 9449 section 10.1).
   */
  readonly asksForTokens: boolean
}

/** A key that a request has proved. */
export interface Proof {
  /** What identifies the key in `cnf`, such as its thumbprint. At most 255 characters. */
  readonly key: string
  /** Headers of the response, such as the next nonce. Their names must be in `exposedHeaders`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/**
 * A way to bind tokens to a key, so that a stolen token is useless without it: DPoP (RFC 9449), mutual TLS (RFC 8705).
 * The plugin verifies which key a request proves. The core writes `cnf` and `token_type`, binds refresh tokens, compares
 * keys wherever a token is used, and refuses a token whose binding no plugin can verify.
 *
 * @see RFC 7800 section 3.1
 */
export interface TokenBinding {
  readonly kind: 'token-binding'
  /** The member of the claim `cnf` that identifies the key, such as `jkt` or `x5t#S256`. */
  readonly member: string
  /** The `token_type`, and the scheme of `Authorization`, of the tokens that it binds. Default: `Bearer`. */
  readonly scheme?: string | undefined
  /**
   * Parameters of the challenge of its scheme, such as `algs`. Without a scheme of its own, a binding has no challenge.
   */
  readonly challenge?: Readonly<Record<string, string>> | undefined
  /** The response headers that pages of other origins may read, in lower case, such as `dpop-nonce`. */
  readonly exposedHeaders?: readonly string[] | undefined
  /**
   * Whether refresh tokens of this confidential client are bound, too. Those of public clients always are (RFC 9449
   * section 5). Default: they are not, because the client must authenticate to use them.
   */
  readonly bindsRefreshTokens?: ((client: Client) => boolean) | undefined
  /**
   * Refuses, with an `OAuthError`, a request that its client must repeat, such as one without a nonce. Called before the
   * client is authenticated, wherever `prove` is called for a client: it can repeat the request with the same client
   * assertion.
   */
  readonly admit?: ((request: EndpointRequest, kit: Kit) => MaybePromise<void>) | undefined
  /**
   * Returns the key that the request proves, or `undefined` if it proves none. Throw an `OAuthError` for an invalid
   * proof. Throw one for a missing proof if the client requires it and the request asks for tokens. Called for every
   * request for tokens, for endpoints with `readsProofs`, and for a valid access token that this binding has bound.
   */
  prove(request: ProofRequest, kit: Kit): MaybePromise<Proof | undefined>
}

/** Defines a token binding. */
export const defineTokenBinding = (binding: Omit<TokenBinding, 'kind'>): TokenBinding => ({
  ...binding,
  kind: 'token-binding',
})
