import type { Client } from '../directory/client.ts'
import type { UnknownCaller } from '../directory/client-directory.ts'
import type { Scope } from '../directory/scope.ts'
import type { OAuthError } from '../errors/oauth-error.ts'
import type { CorsPolicy } from '../http/cors-headers.ts'
import type { OutputOf, Schema } from '../standard-schema.ts'
import type { JsonObject, MaybePromise } from '../types.ts'
import type { AuthenticateUser, ProvedEpochOf, RememberAddress } from './authenticate-user.ts'
import type { Capability } from './capability.ts'
import type { AuthenticatedClient, Confirmation, RequestFacts } from './grant.ts'
import type { Kit, LimitWaiting, Revoking } from './kit.ts'
import type { Defined } from './part-kind.ts'
import type { Authorize, AuthorizedEpochs, OpenAuthorization } from './proposal.ts'
import type { Reply } from './reply.ts'

/** The bearer of a valid access token of this provider. */
export interface TokenCaller {
  /** The client that the token was issued to. */
  readonly client: Client
  /** The user of the token; `undefined` if the token has none. */
  readonly sub: string | undefined
  readonly scopes: readonly string[]
  /** The claims of the token. They have a `sub` only if the token has a user. */
  readonly claims: JsonObject
}

/** What an endpoint receives about its caller, by the value of `caller`. The core has proved it before `handle` runs. */
export interface Callers {
  /** A client, authenticated as at the token endpoint. Public clients authenticate with their `client_id`. */
  readonly client: AuthenticatedClient
  /** An API, authenticated with its scope name and secret, as at the introspection endpoint. */
  readonly scope: Scope
  /** The bearer of an access token, as at the userinfo endpoint. */
  readonly token: TokenCaller
  /** Any caller, without authentication. */
  readonly anyone: undefined
}

/** Facts about the request of an endpoint. `header` returns `null` for `Authorization`. */
export interface EndpointRequest extends RequestFacts {
  /** The `requestId` of the events of this request, for support; `undefined` if the provider records no events. */
  readonly requestId: string | undefined
  readonly method: string
  /** The absolute URL, with the query. Its origin is that of the issuer, whatever the `Host` header contains. */
  readonly url: string
  /**
   * The URL of the endpoint on the host that requests client certificates, if a plugin announces one in
   * `mtls_endpoint_aliases`. Clients call either URL (RFC 8705 section 5).
   */
  readonly aliasUrl: string | undefined
  /**
   * The decoded segments of the path below that of the endpoint, which must have `subpaths`: `['clients', 'a/b']` for
   * `/clients/a%2Fb`. None is empty, `.` or `..`, or contains a control character. Empty for the path of the endpoint.
   */
  readonly segments: readonly string[]
}

/** A request to an endpoint: the caller is authenticated, and the parameters match the schema. */
export interface Call<P = unknown, C extends keyof Callers = keyof Callers> {
  readonly caller: Callers[C]
  /** The parameters that the schema declares, under their wire names; `undefined` without a schema. */
  readonly params: P
  readonly request: EndpointRequest
  /** The keys that the request has proved, if the endpoint has `readsProofs`; `undefined` if it has proved none. */
  readonly confirmation: Confirmation | undefined
  /** The token of the `Authorization` header, unverified, if the endpoint has `readsBearer`; `undefined` if it has none. */
  readonly bearer: string | undefined
}

/** What an endpoint can use, and the functions that a plugin offers to the host. */
export interface EndpointKit extends Kit, Revoking {
  /** The absolute URL of an endpoint of the core or a plugin, by its `name`; `undefined` if it is absent or disabled. */
  endpointUrl(name: string): string | undefined
  /**
   * Returns the claims of an identity token of this provider, also of one that has expired, such as an `id_token_hint`.
   * Verifies the signature and the issuer. Returns `undefined` if they are not valid, or if the signing key no longer
   * exists. The token proves nothing about the caller, and its authorization may have been revoked.
   */
  readIdentityToken(token: string): Promise<JsonObject | undefined>
  /** Whether the user is active now, by `users.isActive`. Ask it before a session or a code of the user begins. */
  isUserActive(sub: string): Promise<boolean>
  /**
   * Returns the epoch of a user: a value that changes when `provider.revoke` revokes everything of the user; `undefined`
   * before any revocation. Store it with a session, and refuse the session if there is now another one.
   */
  epochOf(sub: string): Promise<string | undefined>
  /** Returns the epoch of a client, as `epochOf` does for a user. */
  epochOfClient(clientId: string): Promise<string | undefined>
  /** Returns the epochs of a user and a client, and that of the access which the user has given the client. One trip. */
  epochsOf(sub: string, clientId: string): Promise<ReturnType<AuthorizedEpochs>>
  /** Whether each authorization was revoked by its family: by `provider.revoke`, its client, or a replay. One trip. */
  areRevoked(families: readonly string[]): Promise<readonly boolean[]>
  /** Returns the scopes without those that meant another scope at that time (epoch seconds), such as that of a consent. */
  lastingScopes(scopes: readonly string[], grantedAt: number): readonly string[]
  /** Returns `undefined` if the client is unknown or disabled. Pass the request if the id comes from its caller. */
  findClient(clientId: string, caller?: UnknownCaller): Promise<Client | undefined>
  /**
   * Parses a `scope` parameter and checks that the client may request each scope.
   *
   * @throws OAuthError `invalid_scope`, also when there is no scope, as at the token endpoint.
   */
  scopesOf(client: Pick<Client, 'scopes'>, scope: string | undefined): readonly string[]
  /** Checks an authorization request, before there is a user. */
  readonly openAuthorization: OpenAuthorization
  /** Stores what a user has authorized, under a single-use credential that a grant redeems. */
  readonly authorize: Authorize
  readonly authorizedEpochs: AuthorizedEpochs
  /** Checks a user name and password, with the limits and events of the password grant. */
  readonly authenticateUser: AuthenticateUser
  readonly provedEpochOf: ProvedEpochOf
  readonly rememberAddress: RememberAddress
  readonly limitWaiting: LimitWaiting
}

/**
 * A path of the provider. The part determines who may call it and what it returns. The core checks the method, reads and
 * limits the body, authenticates the caller, validates the parameters, and handles CORS, errors and events. The endpoints
 * of the core are values of this kind.
 */
export interface Endpoint<S extends Schema = Schema, C extends keyof Callers = keyof Callers>
  extends Defined<'endpoint'> {
  /**
   * The key of the option `endpoints` and of `provider.handlers`, and the `endpoint` of events: letters and digits,
   * beginning with a lower-case letter.
   */
  readonly name: string
  /** The default path, relative to the issuer. */
  readonly path: `/${string}`
  /** Whether the path precedes the path of the issuer, as in RFC 8414 section 3.1. Default: `false`. */
  readonly beforeIssuerPath?: boolean | undefined
  /**
   * Whether the endpoint also has all paths below its own, such as `/library/books/12`: see `segments` of the request.
   * Exact paths come first. No other endpoint can be below it. Default: `false`.
   */
  readonly subpaths?: boolean | undefined
  /** The member of the discovery document that contains the URL. It is absent when the endpoint is disabled. */
  readonly metadataName?: `${string}_endpoint` | `${string}_uri` | undefined
  /** `GET` includes `HEAD`. */
  readonly methods: readonly ('GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE')[]
  /**
   * The media type of the body of POST, PUT and PATCH; with `json`, PATCH also accepts `application/merge-patch+json` (RFC
   * 7396). Other methods have their parameters in the query. Default: `form`.
   */
  readonly body?: 'form' | 'json' | undefined
  readonly caller: C
  /**
   * The scope that the access token of the caller `token` must contain; required for that caller. Otherwise, an API could
   * use the tokens that it receives for another purpose. Of several scopes, the token must contain one; `handle` decides
   * what each allows.
   */
  readonly scope?: string | readonly [string, ...string[]] | undefined
  /** Which other origins can read the responses. Default: `none`. */
  readonly cors?: CorsPolicy | undefined
  /**
   * Whether the parameters contain a secret that callers could guess. The limits of `abuseControl.validation` then apply:
   * each `invalid_token` that `handle` throws counts. They always apply to the caller `token`. Default: `false`.
   */
  readonly guessable?: boolean | undefined
  /**
   * Whether requests of a client can prove a key, which token bindings then verify. A proof is used up before
   * `handle`. With `before_reply`, it is used up after `handle`: a refused request then uses up no proof, so the
   * effects of a repeated request must be harmless.
   */
  readonly readsProofs?: boolean | 'before_reply' | undefined
  /**
   * Whether `bearer` contains the token of the header, for the caller `anyone`. It is no access token: verify it.
   * Default: `false`.
   */
  readonly readsBearer?: boolean | undefined
  /**
   * Whether GET has an effect, such as using up a request or counting a guess. The core then responds to HEAD with an empty
   * page and without calling `handle`: programs that check links send it (RFC 9110 section 9.2.1). Default: `false`.
   */
  readonly effects?: boolean | undefined
  /** The capabilities of the core that it calls, such as `passwords`. What they need of the host is checked at startup. */
  readonly requires?: readonly Capability[] | undefined
  /**
   * Refuses a request before its body is read and its caller is authenticated, such as one from an address that sends
   * too many.
   */
  admit?: ((request: EndpointRequest, kit: EndpointKit) => MaybePromise<void>) | undefined
  /** Whether errors are problems (RFC 9457), `application/problem+json`, instead of those of OAuth. Default: `false`. */
  readonly problems?: boolean | undefined
  /** The schema of the parameters. Without it, the core reads none. */
  readonly params?: S | undefined
  /** Handles a request. Throw an `OAuthError` of `kit.refuse` to refuse; other errors become `server_error`, without a message. */
  handle(call: Call<OutputOf<S>, C>, kit: EndpointKit): MaybePromise<Reply>
  /**
   * Shows a refusal of the core or of `handle` to a user, as a page instead of JSON; for the caller `anyone`. The core
   * sets `error` of the reply. If this function throws, the response is JSON. `defineErrorPage()` defines the page for paths
   * without an endpoint.
   */
  readonly presentError?:
    | ((error: OAuthError, request: EndpointRequest, kit: EndpointKit) => MaybePromise<Reply>)
    | undefined
}

/**
 * The names of the endpoints of plugins, for the type of the option `endpoints`. A plugin adds its names by declaration
 * merging: `declare module '@grantry/core' { interface PluginEndpoints { deviceAuthorization: true } }`.
 */
// biome-ignore lint/suspicious/noEmptyInterface: plugins add members.
export interface PluginEndpoints {}
