import type { GenericSchema, InferOutput } from 'valibot'
import type { Client } from '../directory/client.ts'
import type { Subject } from '../directory/user-service.ts'
import type { Json, MaybePromise } from '../json.ts'
import type { Proofs } from './grant-check.ts'
import type { GrantKit } from './grant-kit.ts'
import type { Redemption } from './redemption.ts'

declare const authenticated: unique symbol

/** A client that has proved who it is. Only the client authentication makes one. */
export type AuthenticatedClient = Client & { readonly [authenticated]: true }

/** Circumstances of the HTTP request that a grant may want to know. */
export interface RequestFacts {
  /** The value of a header, or `null`. `Authorization` is not shown: it is the client's. */
  header(name: string): string | null
  /** As the adapter saw it: behind proxies only as true as its configuration. */
  readonly clientAddress: string | undefined
  /**
   * The `traceparent` for a call of the grant's own to another service, so that it shows in the same trace (W3C Trace Context). A `tracestate` that
   * came along goes with it.
   */
  trace(): { readonly traceparent: string; readonly tracestate?: string }
}

/** What a grant decides on. By now the client is authenticated, may use this grant, and the parameters fit the schema. */
export interface GrantRequest<P> {
  readonly client: AuthenticatedClient
  /** This grant's own fields, under the names of the wire. */
  readonly params: P
  /** The scopes asked for: each exists, is enabled and is allowed to the client. */
  readonly scopes: readonly string[]
  readonly request: RequestFacts
}

/** What was authorized. Data: never a response, never a token. The core checks it, spends, and mints. */
export interface GrantResult {
  /** Absent: a token of the client alone. */
  readonly subject?: Subject
  /** What is granted; never more than was asked for or stored. */
  readonly scopes: readonly string[]
  /** Extra claims of the access token. Names of the protocol (`sub`, `scope`, `exp`, ...) are refused. */
  readonly claims?: Readonly<Record<string, Json>>
  /** For the identity token: the value that the client sent to the login page. */
  readonly nonce?: string
  /** Single-use credentials that this answer spends. The core does it last, atomically; the loser of a race is refused. */
  readonly redeems?: readonly Redemption[]
  /** A stored grant that this answer goes on with, without spending its refresh token. */
  readonly continues?: Redemption
  /** What must still be proved; a grant check has to settle each. What a redeemed credential demands counts without being named here. */
  readonly demands?: Partial<Proofs>
  readonly issue?: {
    /** Default: the client's setting. */
    readonly accessToken?: 'jwt' | 'reference'
    /** `false` forbids one. Otherwise there is one when there is a subject and `offline_access` was granted. */
    readonly refreshToken?: false
    /** Default: none. */
    readonly identityToken?: boolean
    /** Seconds; default: the client's access token lifetime, which it can only shorten. */
    readonly lifetime?: number
  }
  /** Extra members of the response. Standard members are refused. */
  readonly response?: Readonly<Record<string, Json>>
}

/**
 * A grant type: what a plugin author writes. It answers who and what; the core decides whether, and issues.
 *
 * @see RFC 6749 section 4.5; wire contract, section 3
 */
export interface Grant<S extends GenericSchema = GenericSchema> {
  readonly kind: 'grant'
  /** The value of `grant_type`: a short name, or better an absolute URI that is yours. At most 100 characters. */
  readonly grantType: string
  /** This grant's own fields. The compiler infers the type of `params` from it. */
  readonly params: S
  /** `required` unless said otherwise. `optional`: `scope` may be absent. `ignored`: the grant brings its own scopes. */
  readonly scope?: 'required' | 'optional' | 'ignored'
  /** Whether clients without a secret may use it. Default: no. */
  readonly publicClients?: boolean
  /**
   * The public text of `invalid_grant` where the core refuses what the grant has granted (spent, revoked, user inactive). The grant's own
   * refusals use the same, so that a stranger cannot tell them apart. Default: `The grant is not valid`.
   */
  readonly refusal?: string
  /** Ports of the host that must be there; checked at start. */
  readonly requires?: readonly 'users.authenticate'[]
  /**
   * Refuse by throwing an `OAuthError`. Anything else that is thrown becomes `server_error`, and its message is never shown.
   */
  handle(request: GrantRequest<InferOutput<S>>, kit: GrantKit): MaybePromise<GrantResult>
}

/** A result and nothing beside it: a mistyped member, or a token, does not compile. */
type Exactly<R extends GrantResult> = R & { readonly [K in Exclude<keyof R, keyof GrantResult>]: never }

/**
 * Makes a grant of its parts, with `params` typed by the schema.
 *
 * @example
 * const hello = defineGrant({
 *   grantType: 'urn:example:hello',
 *   params: v.object({ badge_id: v.string() }),
 *   handle: ({ params, scopes }) => ({ subject: { sub: params.badge_id, amr: ['badge'] }, scopes }),
 * })
 */
export function defineGrant<const S extends GenericSchema, R extends GrantResult>(
  grant: Omit<Grant<S>, 'kind' | 'handle'> & {
    handle(request: GrantRequest<InferOutput<S>>, kit: GrantKit): MaybePromise<Exactly<R>>
  },
): Grant<S> {
  return { ...grant, kind: 'grant' }
}
