import type { PreflightRefusal } from '../http/cors.ts'
import type { EventCause } from './cause.ts'

/** What happened to whom. Each fact carries names and reasons only: no token, code, secret or password ever enters one. */
export type Fact =
  | { readonly type: 'client_authentication_succeeded'; readonly method: string }
  /** `presentedClientId` is the id of a client. Anything else that was presented has a fingerprint only, because it may be a secret. */
  | {
      readonly type: 'client_authentication_failed'
      readonly presentedClientId?: string
      readonly presentedFingerprint?: string
      readonly reason: string
    }
  | {
      readonly type: 'user_authentication_succeeded'
      readonly username: string
      readonly idp: string
      readonly acr?: string
    }
  /**
   * `username` has authenticated in this process before. Any other name has a fingerprint only, because it may be a password. The fingerprint is keyed
   * by this process. `idp` and `acrValues` are what the request asked for.
   */
  | {
      readonly type: 'user_authentication_failed'
      readonly username?: string
      readonly usernameFingerprint: string
      readonly idp?: string
      readonly acrValues?: readonly string[]
      readonly reason: string
    }
  | {
      readonly type: 'token_issued'
      readonly tokenType: 'access_token' | 'identity_token' | 'refresh_token'
      readonly grantType: string
      readonly scopes: readonly string[]
      /** Who authenticated the user, and how strongly; absent for a client alone. */
      readonly idp?: string
      readonly acr?: string
      readonly fingerprint?: string
      readonly family?: string
    }
  | {
      readonly type: 'code_issued' | 'code_redeemed' | 'code_replayed' | 'code_ended'
      readonly fingerprint: string
      readonly family?: string
    }
  | {
      readonly type: 'refresh_rotated' | 'refresh_retried' | 'refresh_reused'
      readonly fingerprint: string
      readonly family?: string
    }
  | { readonly type: 'redemption_replayed'; readonly fingerprint: string; readonly family?: string }
  | { readonly type: 'family_revoked'; readonly reason: string; readonly family?: string }
  | { readonly type: 'subject_revoked'; readonly sub: string }
  | { readonly type: 'client_revoked'; readonly clientId: string }
  | {
      readonly type: 'token_revoked'
      readonly tokenType: 'access_token' | 'refresh_token'
      readonly fingerprint: string
      readonly family?: string
    }
  | { readonly type: 'introspection_active'; readonly scope: string; readonly fingerprint: string }
  | {
      readonly type: 'introspection_inactive'
      readonly scope: string
      readonly reason: string
      readonly fingerprint: string
    }
  /** Without `scope` the caller did not authenticate; then `presentedScope` is the name of a scope, and anything else has a fingerprint only. */
  | {
      readonly type: 'introspection_denied'
      readonly scope?: string
      readonly presentedScope?: string
      readonly presentedFingerprint?: string
      readonly reason: string
      readonly fingerprint?: string
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
      /** The public text that the caller got; it names the parameter, where there is one. */
      readonly description: string
    }
  /** A browser asked whether a page may send a request, and it may not. `origin` is that page's, where it has the form of an origin. */
  | { readonly type: 'preflight_refused'; readonly reason: PreflightRefusal; readonly origin?: string }
  /** Something that must not happen: a defect, or a store that is out of reach. `cause` is what was thrown, `port` a function of the host. */
  | { readonly type: 'unhandled_failure'; readonly reason: string; readonly port?: string; readonly cause: EventCause }
  /** A secret of a client store that is not the base64 of a SHA-256 or SHA-512. It was skipped. */
  | { readonly type: 'secret_skipped'; readonly owner: string }
  /** A stored record that is not ours, torn, or of an unknown version. It counts as absent. */
  | {
      readonly type: 'record_rejected'
      readonly kind: string
      readonly reason: 'version_unknown' | 'record_malformed'
    }
  /** A key ring that is kept in the store has a new signing key; told by the one process that made it. */
  | {
      readonly type: 'keys_rotated'
      readonly algorithm: string
      readonly reason: 'scheduled' | 'command' | 'algorithm_added' | 'key_refused'
      /** What signs from now on. */
      readonly kid: string
      /** What will sign after it. */
      readonly nextKid: string
      /** What signed before; absent where the algorithm is new. */
      readonly retiredKid?: string
    }
  /** By command; `compromised`: its tokens are refused from now on. */
  | {
      readonly type: 'key_retired'
      readonly kid: string
      readonly algorithm: string
      readonly compromised: boolean
    }
  /** A name, an address or a client has reached a limit; told once by each process, not for each request that waits. */
  | { readonly type: 'abuse_limited'; readonly limit: string; readonly retryAfter: number }
  | { readonly type: 'startup_warning'; readonly reason: string; readonly message: string }

/**
 * A fact with its circumstances. `id` is unique, and its part before the dot is `requestId`, which this provider made; `time` is in epoch seconds;
 * `duration` in milliseconds; a `fingerprint` is the first 8 hex digits of the credential's SHA-256, and a `family` those of the SHA-256 of the
 * family's identifier, where the token belongs to one. `traceId` and `parentSpanId` may be what the caller sent as `traceparent` (W3C Trace
 * Context); `spanId` is ours.
 *
 * @see wire contract, section 10
 */
export type ProviderEvent = Fact & {
  readonly id: string
  readonly requestId: string
  readonly traceId?: string
  readonly spanId?: string
  readonly parentSpanId?: string
  readonly time: number
  readonly endpoint?: string
  readonly clientId?: string
  readonly sub?: string
  /** Of a login: the tenant that `acr_values` names. */
  readonly tenant?: string
  readonly clientAddress?: string
}

/** Gets every event. It can change nothing: what it returns is ignored, what it throws is swallowed and counted. */
export type Observer = (event: ProviderEvent) => unknown
