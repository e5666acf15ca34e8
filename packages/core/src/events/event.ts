import type { PreflightRefusal } from '../http/cors-headers.ts'
import type { EventCause } from './cause.ts'
import type { UserFact } from './user-fact.ts'

export type { UserFact } from './user-fact.ts'

/** What happened to a client that registers itself. Plugins record it with `kit.recordClient`. */
export type ClientFact =
  /** `by`: `token`, `statement` or `open`, the way in which it was admitted. */
  | { readonly type: 'client_registered'; readonly clientId: string; readonly by: string }
  | { readonly type: 'client_changed' | 'client_removed'; readonly clientId: string }

/** What happened. A fact never contains a token, code, secret or password. */
export type Fact =
  | { readonly type: 'client_authentication_succeeded'; readonly method: string }
  /**
   * `presentedClientId` is present only if a client has this id. Other values have only a fingerprint, because they may
   * be secrets.
   */
  | {
      readonly type: 'client_authentication_failed'
      readonly presentedClientId?: string | undefined
      readonly presentedFingerprint?: string | undefined
      readonly reason: string
      /** Which setting would allow the request, if one would. */
      readonly detail?: string | undefined
    }
  | {
      readonly type: 'user_authentication_succeeded'
      readonly username: string
      readonly idp: string
      readonly acr?: string | undefined
    }
  /**
   * `username` is present only if it has authenticated in this process before. Other user names have only a
   * fingerprint, because they may be passwords. The key of the fingerprint differs for each process. `idp` and
   * `acrValues` are the requested values.
   */
  | {
      readonly type: 'user_authentication_failed'
      readonly username?: string | undefined
      readonly usernameFingerprint: string
      readonly idp?: string | undefined
      readonly acrValues?: readonly string[] | undefined
      readonly reason: string
    }
  /** The password was right, and a second factor follows: the user is not signed in yet. */
  | {
      readonly type: 'user_password_accepted'
      readonly username: string
      readonly idp: string
      readonly acr?: string | undefined
    }
  | UserFact
  | ClientFact
  | {
      readonly type: 'token_issued'
      readonly tokenType: 'access_token' | 'identity_token' | 'refresh_token' | 'assertion'
      readonly grantType: string
      readonly scopes: readonly string[]
      /** The server that an assertion is for. */
      readonly audience?: string | undefined
      /** The identity provider and authentication context of the user; absent without a user. */
      readonly idp?: string | undefined
      readonly acr?: string | undefined
      readonly fingerprint?: string | undefined
      readonly family?: string | undefined
    }
  | {
      readonly type: 'code_issued' | 'code_redeemed' | 'code_replayed' | 'code_ended'
      /** The kind of the stored grant; absent for an authorization code. */
      readonly kind?: string | undefined
      readonly fingerprint: string
      readonly family?: string | undefined
    }
  | {
      readonly type: 'refresh_rotated' | 'refresh_retried' | 'refresh_reused'
      readonly fingerprint: string
      readonly family?: string | undefined
    }
  /** The client has `refreshToken.gracePeriod`: its spent refresh token was refused, and the family remains valid. */
  | {
      readonly type: 'refresh_outdated'
      readonly reason: 'grace_over' | 'request_differs'
      readonly fingerprint: string
      readonly family?: string | undefined
    }
  | { readonly type: 'redemption_replayed'; readonly fingerprint: string; readonly family?: string | undefined }
  | { readonly type: 'family_revoked'; readonly reason: string; readonly family?: string | undefined }
  | { readonly type: 'subject_revoked'; readonly sub: string }
  | { readonly type: 'client_revoked'; readonly clientId: string }
  | { readonly type: 'access_withdrawn'; readonly sub: string; readonly clientId: string }
  | {
      readonly type: 'token_revoked'
      readonly tokenType: 'access_token' | 'refresh_token'
      readonly fingerprint: string
      readonly family?: string | undefined
    }
  | { readonly type: 'introspection_active'; readonly scope: string; readonly fingerprint: string }
  | {
      readonly type: 'introspection_inactive'
      readonly scope: string
      readonly reason: string
      readonly fingerprint: string
    }
  /**
   * Without `scope`, the caller did not authenticate. `presentedScope` is then present only if a scope has this name;
   * other values have only a fingerprint.
   */
  | {
      readonly type: 'introspection_denied'
      readonly scope?: string | undefined
      readonly presentedScope?: string | undefined
      readonly presentedFingerprint?: string | undefined
      readonly reason: string
      readonly fingerprint?: string | undefined
    }
  /** The caller of an endpoint of a plugin did not authenticate as a scope. The members are as in `introspection_denied`. */
  | {
      readonly type: 'scope_authentication_failed'
      readonly presentedScope?: string | undefined
      readonly presentedFingerprint?: string | undefined
      readonly reason: string
    }
  | {
      readonly type: 'validation_succeeded'
      readonly tokenType: 'access_token' | 'identity_token'
      readonly fingerprint: string
    }
  | {
      readonly type: 'validation_failed'
      readonly tokenType: 'access_token' | 'identity_token'
      readonly reason: string
      readonly fingerprint: string
    }
  | {
      readonly type: 'endpoint_succeeded'
      readonly httpMethod: string
      readonly status: number
      readonly duration: number
    }
  | {
      readonly type: 'endpoint_failed'
      readonly httpMethod: string
      readonly status: number
      readonly duration: number
      readonly error: string
      readonly reason: string
      /** The `error_description` of the response. It names the parameter, if one is at fault. */
      readonly description: string
      /**
       * What a schema found wrong with a parameter, without a value of the request; or the redirect URI that was sent, and
       * those that are registered, without what may be secret.
       */
      readonly detail?: string | undefined
      /** The client of a refused authorization, which has not authenticated. */
      readonly clientId?: string | undefined
    }
  /** A CORS preflight was refused. `origin` is present only if it is well-formed. */
  | { readonly type: 'preflight_refused'; readonly reason: PreflightRefusal; readonly origin?: string | undefined }
  /** An internal failure: a defect, or an unavailable storage or host port. `port` is the name of the host port. */
  | {
      readonly type: 'unhandled_failure'
      readonly reason: string
      readonly port?: string | undefined
      readonly cause: EventCause
    }
  /** A secret from a client store is not the base64 of a SHA-256 or SHA-512, and was skipped. */
  | { readonly type: 'secret_skipped'; readonly owner: string }
  /** A client of a plugin or of the storage is malformed, such as one with a member of a removed plugin. It is unknown. */
  | { readonly type: 'client_skipped'; readonly problem: string }
  /** A stored record is of foreign origin, incomplete, or of an unknown version. It is treated as absent. */
  | {
      readonly type: 'record_rejected'
      readonly kind: string
      readonly reason: 'version_unknown' | 'record_malformed'
    }
  /** A stored key ring has a new signing key. Recorded only by the process that created it. */
  | {
      readonly type: 'keys_rotated'
      readonly algorithm: string
      readonly reason: 'scheduled' | 'command' | 'algorithm_added' | 'key_refused'
      /** The key that signs now. */
      readonly kid: string
      /** The key that will sign after the next rotation. */
      readonly nextKid: string
      /** The key that signed before; absent for a new algorithm. */
      readonly retiredKid?: string | undefined
    }
  /** An operator has retired a key. `compromised`: tokens that it signed are refused. */
  | {
      readonly type: 'key_retired'
      readonly kid: string
      readonly algorithm: string
      readonly compromised: boolean
    }
  /**
   * A user name, address or client has reached a limit. Recorded once by each process, not for each refused request.
   */
  | { readonly type: 'abuse_limited'; readonly limit: string; readonly retryAfter: number }
  | { readonly type: 'startup_warning'; readonly reason: string; readonly message: string }

/**
 * An event: a fact with its context. `id` is unique; the part before the dot is `requestId`, which the provider
 * generates. `time` is in epoch seconds, `duration` in milliseconds. A `fingerprint` is the first 8 hex digits of the
 * SHA-256 of the credential, and `family` those of the SHA-256 of the family id. `traceId` and `parentSpanId` can come
 * from the caller's `traceparent` (W3C Trace Context); `spanId` is generated by the provider.
 *
 * @see wire contract, section 10
 */
export type ProviderEvent = Fact & {
  readonly id: string
  readonly requestId: string
  readonly traceId?: string | undefined
  readonly spanId?: string | undefined
  readonly parentSpanId?: string | undefined
  readonly time: number
  readonly endpoint?: string | undefined
  readonly clientId?: string | undefined
  readonly sub?: string | undefined
  /**
   * The tenant whose provider has recorded the event, if a process serves several. Otherwise, in logins only: the tenant from
   * `acr_values`.
   */
  readonly tenant?: string | undefined
  /** Logins only, at the provider of a tenant: the tenant from `acr_values`, which a client chooses. */
  readonly requestedTenant?: string | undefined
  readonly clientAddress?: string | undefined
}

/** Receives every event. Its result is ignored, and its errors are only counted (`observerFailures`). */
export type Observer = (event: ProviderEvent) => unknown
