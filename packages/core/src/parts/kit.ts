import type { Client, ClientOptions } from '../directory/client.ts'
import type { Refuse } from '../errors/oauth-error.ts'
import type { ClientFact, UserFact } from '../events/event.ts'
import type { RecordOptions } from '../records/envelope.ts'
import type { OutputOf, Schema } from '../standard-schema.ts'
import type { Json, JsonObject, MaybePromise } from '../types.ts'
import type { ClientMetadataNames } from './client-metadata.ts'

/** The records of one plugin. Other plugins cannot access them. A key can be any string; it is hashed. */
export interface PluginRecords {
  get<S extends Schema>(key: string, schema: S): Promise<OutputOf<S> | undefined>
  /** @param expiresAt epoch seconds */
  put(key: string, value: Json, expiresAt: number, options?: RecordOptions): Promise<void>
  /** Creates only when absent; `true` when this call created it. Atomic across processes. */
  insert(key: string, value: Json, expiresAt: number, options?: RecordOptions): Promise<boolean>
  delete(key: string): Promise<void>
  /**
   * Changes a record by what it contains. Of concurrent changes, in all processes, each is applied to the result of
   * another: a list loses no member.
   *
   * @param change returns the new value and its end (epoch seconds), or `undefined` to keep the record as it is. It gets
   * `undefined` for a record that is absent, or that does not match the schema. It is synchronous, and called again when
   * another request has changed the record meanwhile, so it has no effects
   * @throws OAuthError `temporarily_unavailable` (503) after 100 attempts, if other processes are faster each time
   */
  update<S extends Schema>(
    key: string,
    schema: S,
    change: (
      present: OutputOf<S> | undefined,
    ) => (RecordOptions & { readonly value: Json; readonly expiresAt: number }) | undefined,
  ): Promise<void>
  /**
   * Increments a counter and returns its new value, which no other call returns, in any process. A counter is not a
   * record: `get` does not find it. It expires by the clock of the storage, so a new period needs a new key.
   */
  increment(key: string, expiresAt: number): Promise<number>
}

/** The circumstances of an event about a user, as far as they are known. */
export interface UserEventContext {
  readonly sub?: string | undefined
  readonly client?: Client | undefined
  readonly clientAddress?: string | undefined
}

/**
 * Stores something for a caller who has proved nothing yet, if the limits of `abuseControl.waitingRequests` allow it: for
 * the address of the request, and for all callers together. Returns the result of `store`.
 *
 * @param waiting `value`: what is stored, whose size counts. `store` runs together with the counters; `remove` undoes it
 * if a limit was reached in this moment.
 * @throws OAuthError `slow_down` (429) for the address, `temporarily_unavailable` (503) for all callers.
 */
export type LimitWaiting = <T>(
  request: { readonly clientAddress: string | undefined },
  waiting: {
    readonly value: Json
    readonly store: () => Promise<T>
    readonly remove: (stored: T) => Promise<void>
  },
) => Promise<T>

/** How a plugin ends tokens, for the user who asks for it. */
export interface Revoking {
  /**
   * Revokes the tokens of a user, with the sessions, those at one client, or those of one authorization, as `provider.revoke`
   * does. Requires the capability `authorizations`.
   */
  readonly revoke: (
    target:
      | { readonly subject: string; readonly clientId?: undefined }
      | { readonly subject: string; readonly clientId: string }
      | { readonly family: string },
  ) => Promise<void>
  /**
   * Revokes the tokens of a user, with the sessions, unless another revocation has come first: only if the epoch (`epochOf`)
   * is still this one, `null` before any. Returns the new epoch, `undefined` otherwise. Requires the capability
   * `authorizations`.
   */
  readonly renewEpoch: (sub: string, epoch: string | null) => Promise<string | undefined>
  /** Revokes the tokens of a client as `renewEpoch` does for a user, only if the epoch (`epochOfClient`) is still this one. */
  readonly renewEpochOfClient: (clientId: string, epoch: string | null) => Promise<string | undefined>
}

/** The tools of a plugin. All its parts get them. */
export interface Kit {
  readonly issuer: string
  /** The URLs of the token endpoint, with its alias in `mtls_endpoint_aliases`; empty if it is disabled. */
  readonly tokenEndpoints: readonly string[]
  /**
   * Returns the audience of a scope that is equivalent to a resource (RFC 3986 section 6.2.3), as it is registered; any
   * other text unchanged. Compare and return only this form.
   */
  audienceOf(resource: string): string
  /** The members of a client of this provider that clients can name in metadata (RFC 7591). */
  readonly clientMetadata: ClientMetadataNames
  /** The algorithms of the keys of this provider: those that identity tokens can have. */
  readonly signingAlgorithms: readonly string[]
  /** Returns why this provider could not have a client with these settings, with all checks of its plugins. */
  problemOfClient(client: ClientOptions): string | undefined
  /** Epoch seconds. */
  now(): number
  /** SHA-256 of bytes or UTF-8 text as unpadded base64url, as in `code_challenge_method=S256`. */
  sha256(data: string | Uint8Array): string
  /** Compares in time that depends only on the lengths. */
  equals(left: string, right: string): boolean
  /** 32 random bytes as base64url, which never begin with a dash. */
  randomId(): string
  /** Returns the error that refuses a request. Throw it: `throw kit.refuse('invalid_grant', 'Not valid', 'unknown')`. */
  readonly refuse: Refuse
  /** The records of the plugin, shared by its parts. */
  readonly records: PluginRecords
  /** Records an event about a user. It must not contain a secret. */
  recordUser(fact: UserFact, context: UserEventContext): void
  /** Records an event about a client that registers itself. */
  recordClient(fact: ClientFact, request: { readonly clientAddress?: string | undefined }): void
  /**
   * Calls a function of the host, such as an option of the plugin, with the limits of `users`: `hostTimeLimit` and
   * `maxHostCalls`. Call every function of the host in this way, because one that hangs would hold its requests forever.
   *
   * @param port the name for events, the same for each call: the plugin and the option, such as `totp.secretOf`
   * @throws OAuthError `temporarily_unavailable` at the time limit, or if too many calls are in flight
   */
  callHost<T>(port: string, call: () => MaybePromise<T>): Promise<T>
  /**
   * Encrypts a value for this plugin, so that a browser can keep it, as in a cookie. A rotation of stored keys can
   * make it unreadable: use it for minutes, and start over when `unseal` returns `undefined`. Requires the capability
   * `sealing`.
   *
   * @param expiresAt epoch seconds
   * @throws TypeError when the provider has no private key of its own, because all keys are external.
   */
  seal(value: Json, expiresAt: number): Promise<string>
  /** Returns what this plugin has sealed; `undefined` if it has expired, was changed, or does not match the schema. */
  unseal<S extends Schema>(text: string, schema: S): Promise<OutputOf<S> | undefined>
  /**
   * Signs a JWT that is not a token, such as `token-introspection+jwt`. The core sets `iss` and `iat`.
   *
   * @param typ ends with `+jwt`; never that of an access token (RFC 8725 section 3.11)
   * @param client the client that verifies it, if it expects the algorithm of its identity tokens, as for a logout
   * token (OpenID Connect Back-Channel Logout 1.0 section 2.6). Default: the algorithm of access tokens
   * @throws TypeError for the type of a token, and for claims with both `sub` and `exp`, which a client that ignores
   * `typ` could accept as an identity token. A JWT can have both if the plugin has declared its type and claims
   * (`signs` of `defineFields()`), without `nonce` and with a lifetime of at most 120 seconds.
   */
  sign(typ: string, claims: JsonObject, client?: Pick<Client, 'identityTokenAlgorithm'>): Promise<string>
  /**
   * Runs `guess`, which returns `undefined` for a wrong guess, such as of a short code that a user types. Wrong guesses
   * are counted for each address, exactly over all processes.
   *
   * @param limit `name`: unique within the plugin. `failures`: the number of wrong guesses that are answered in a
   * `window` (seconds).
   * @throws OAuthError `slow_down` (429) when the limit is reached, also for a right guess.
   * @throws TypeError without an address, because guesses would not be limited.
   */
  limitGuesses<T>(
    limit: { readonly name: string; readonly failures: number; readonly window: number },
    clientAddress: string,
    guess: () => Promise<T | undefined>,
  ): Promise<T | undefined>
}
