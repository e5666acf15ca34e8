import type { Client } from '../directory/client.ts'
import type { Subject } from '../directory/user-service.ts'
import type { ClientCertificate } from '../http/connection.ts'
import type { Authorization } from '../records/authorization.ts'
import type { OutputOf, Schema } from '../standard-schema.ts'
import type { Json, MaybePromise } from '../types.ts'
import type { Capability } from './capability.ts'
import type { GrantKit, Redemption, StoredGrant, ValidatedToken } from './grant-kit.ts'
import type { Defined } from './part-kind.ts'

/**
 * Keys by their members of the claim `cnf`: those that a token is bound to, or that a request has proved.
 *
 * @see RFC 7800 section 3.1
 */
export type Confirmation = Readonly<Record<string, string>>

declare const authenticated: unique symbol

/** An authenticated client. Only the client authentication can create one. */
export type AuthenticatedClient = Client & { readonly [authenticated]: true }

/** Facts about the HTTP request that a grant may need. */
export interface RequestFacts {
  /** The value of a header, or `null`. Always `null` for `Authorization`, which contains the client's credentials. */
  header(name: string): string | null
  /** The address that the adapter reports. Behind proxies, it is only as reliable as the proxy configuration. */
  readonly clientAddress: string | undefined
  /** The certificate that the client has proved in the TLS handshake; `undefined` if it has sent none. */
  readonly clientCertificate: ClientCertificate | undefined
  /**
   * Trace headers for an outgoing call of the grant, so that it appears in the same trace (W3C Trace Context). Includes
   * the `tracestate` of the request, if any.
   */
  trace(): { readonly traceparent: string; readonly tracestate?: string | undefined }
}

/** The input of a grant. The client is authenticated and may use this grant, and the parameters match the schema. */
export interface GrantRequest<P> {
  readonly client: AuthenticatedClient
  /** The parameters that the schema declares, under their wire names. */
  readonly params: P
  /** The requested scopes. Each exists, is enabled, and is allowed for the client. */
  readonly scopes: readonly string[]
  readonly request: RequestFacts
  /** The keys that the request has proved, to which its tokens will be bound; `undefined` if it has proved none. */
  readonly confirmation: Confirmation | undefined
}

/** The maximum number of actors in a chain. It keeps tokens small. */
export const maxActors = 5

/** Who acts for the subject (RFC 8693 section 4.1). */
export interface Actor {
  readonly sub: string
  /**
   * The id of the client, if the actor is a client without a user: a user can have an equal `sub` (RFC 9700 section 4.15).
   * The core writes it to the member `client_id`.
   */
  readonly clientId?: string | undefined
  /** The issuer of `sub`, if it is not this provider. */
  readonly iss?: string | undefined
  /** The actor before this one, in a chain of at most `maxActors`. */
  readonly actor?: Actor | undefined
}

/**
 * A JWT about the user for another authorization server, which exchanges it for an access token of its own. The core sets
 * `iss`, `sub`, `aud`, `iat`, `exp`, `jti`, `auth_time`, `amr`, `acr` and `scope`.
 *
 * @see RFC 7521 section 4.1
 */
export interface IssuedAssertion {
  /** The `typ` of the JWT: ends with `+jwt`, and is not that of a token. */
  readonly typ: string
  /** The value of `issued_token_type`. */
  readonly tokenType: string
  /** The issuer of the other server. */
  readonly audience: string
  /** Scopes of the other server: a subset of the requested ones, if there are any. */
  readonly scopes: readonly string[]
  /** Seconds. The assertion expires no later than the token in `continuesFamilyOf`. */
  readonly lifetime: number
  /** More claims, such as `client_id`. */
  readonly claims?: Readonly<Record<string, Json>> | undefined
}

/**
 * What the grant authorizes: plain data, not a response or a token. The core checks it, spends credentials, and mints
 * tokens.
 */
export interface GrantResult
  extends Partial<Pick<Authorization, 'audience' | 'claims' | 'identityClaims' | 'requestedClaims' | 'nonce'>> {
  /** Default: that of the stored grant in `redeems` or `continues`. Without one, the token has no user. */
  readonly subject?: Subject | undefined
  /**
   * The granted scopes: a subset of the requested and the stored scopes. Required, unless `redeems` or `continues` has a
   * stored grant, whose scopes are the default.
   */
  readonly scopes?: readonly string[] | undefined
  /** Who acts for the subject. The core writes it to the claim `act`. */
  readonly actor?: Actor | undefined
  /**
   * The token that this request uses: what `kit.validateToken` returned, or `kit.findGrant` for a refresh token. The
   * access token of the response belongs to the family of that token: it is revoked with the family, and expires no later
   * than that token. The response contains no refresh token and no identity token.
   */
  readonly continuesFamilyOf?: ValidatedToken | StoredGrant | undefined
  /**
   * Single-use credentials to spend. The core spends them last, atomically; the loser of a race is refused. Whatever a
   * stored grant has authorized applies, unless the result sets it.
   */
  readonly redeems?: readonly Redemption[] | undefined
  /** A stored grant to use without spending its refresh token. */
  readonly continues?: Redemption | undefined
  /**
   * Additional demands; each must be settled by a grant check. The demands of a redeemed credential apply
   * automatically. A demand that is `undefined` is a defect: it would otherwise be dropped silently.
   */
  readonly demands?: Partial<Demands> | undefined
  readonly issue?:
    | {
        /** Default: the client's setting. */
        readonly accessToken?: 'jwt' | 'reference' | undefined
        /** `false` suppresses it. By default, one is issued if there is a subject and `offline_access` is granted. */
        readonly refreshToken?: false | undefined
        /** Default: `false`. */
        readonly identityToken?: boolean | undefined
        /** Access token lifetime in seconds. Can only shorten the client's setting, which is the default. */
        readonly lifetime?: number | undefined
      }
    | undefined
  /**
   * The response contains this assertion, and no token. Only a grant with `scope: 'foreign'` returns one, for a subject.
   */
  readonly assertion?: IssuedAssertion | undefined
  /** Additional members of the token response. Standard members are rejected. */
  readonly response?: Readonly<Record<string, Json>> | undefined
}

/**
 * The demands that a stored grant can make of the request that redeems it. A plugin adds a demand by declaration
 * merging: `declare module '@grantry/core' { interface Demands { my_demand: { ... } } }`.
 */
// biome-ignore lint/suspicious/noEmptyInterface: plugins add the members.
export interface Demands {}

/** A kind of stored grants, which `authorize` creates and a grant redeems. */
export interface StoredKind {
  /** `code` for authorization codes; `refresh` for refresh tokens, which only the core creates. */
  readonly kind: string
  /** Whether the credential is sent to a redirect URI of the client. Default: `false`. */
  readonly redirect?: boolean | undefined
  /** The demand that every stored grant of a public client must make, such as `proof_key`. */
  readonly publicClientsDemand?: string | undefined
}

/**
 * A grant type. The plugin determines the subject and the scopes; the core enforces the policy and issues the tokens.
 *
 * @see RFC 6749 section 4.5; wire contract, section 3
 */
export interface Grant<S extends Schema = Schema> extends Defined<'grant'> {
  /** The value of `grant_type`: a short name or, preferably, an absolute URI that you own. At most 100 characters. */
  readonly grantType: string
  /**
   * Which requests of the grant type are for this grant, if another plugin provides the grant type too: those whose
   * parameter `matches` accepts. All others are for the grant without it; if there is none, for any of them.
   */
  readonly variant?: { readonly parameter: string; readonly matches: (value: string) => boolean } | undefined
  /**
   * The schema of the grant's parameters, of any library that implements Standard Schema. The type of `params` is
   * inferred from it. A retry is recognized by the parameters that a valibot or zod object declares; with other
   * schemas, by all.
   */
  readonly params: S
  /**
   * How to treat `scope`. Default: `required`. `optional`: it can be absent. `ignored`: the grant determines the
   * scopes. `foreign`: it can be absent, and has scopes of another server, so only its form is checked; the result must be
   * an `assertion`.
   */
  readonly scope?: 'required' | 'optional' | 'ignored' | 'foreign' | undefined
  /**
   * The scopes of a request without `scope`, if it is `optional`. Those that the client may not request are left out.
   */
  readonly defaultScopes?: ((client: AuthenticatedClient) => readonly string[]) | undefined
  /** Whether public clients may use it. Default: `false`. */
  readonly publicClients?: boolean | undefined
  /**
   * Whether its tokens never belong to a user; a result with a subject is then refused. If all grants are such, the
   * provider needs no key for identity tokens. Default: `false`.
   */
  readonly withoutUser?: boolean | undefined
  /**
   * The `error_description` of `invalid_grant` when the core refuses the result (spent, revoked, user inactive). Use
   * the same text for the grant's own refusals, so that callers cannot distinguish them. Default: `The grant is not
   * valid`.
   */
  readonly refusal?: string | undefined
  /** The error code of such a refusal. Default: `invalid_grant`. */
  readonly refusalCode?: 'invalid_grant' | 'invalid_request' | undefined
  /**
   * The stored grants that it redeems, if any. A client can get one only if it may use this grant type.
   */
  readonly stored?: StoredKind | undefined
  /**
   * The capabilities of the core whose functions of the kit it calls, such as `passwords` for `authenticateUser`. The
   * host functions that they need are checked at startup.
   */
  readonly requires?: readonly Capability[] | undefined
  /**
   * Handles a token request. Throw an `OAuthError`, from `kit.refuse`, to refuse; any other error becomes
   * `server_error` without its message.
   */
  handle(request: GrantRequest<OutputOf<S>>, kit: GrantKit): MaybePromise<GrantResult>
}
