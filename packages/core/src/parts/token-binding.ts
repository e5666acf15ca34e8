import type { Client } from '../directory/client.ts'
import type { TokenScheme } from '../errors/error-response.ts'
import { OAuthError } from '../errors/oauth-error.ts'
import { isObject, isString } from '../json.ts'
import type { NewRecord } from '../records/envelope.ts'
import type { SpentRecord } from '../records/schemas.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import type { MaybePromise } from '../types.ts'
import type { EndpointRequest } from './endpoint.ts'
import type { Confirmation } from './grant.ts'
import type { Kit } from './kit.ts'
import type { Defined } from './part-kind.ts'

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
  /** Set for a proof that is accepted once. */
  readonly once?: SingleUse | undefined
}

/**
 * What the core needs to accept a proof once, in all processes. The core uses the proof up after all other checks,
 * together with what the request spends: a refused request stores nothing.
 */
export interface SingleUse {
  /** A text that no other proof has, such as the key and the `jti`. */
  readonly id: string
  /** Epoch seconds until which a second use must be refused. */
  readonly expiresAt: number
  /** Returns the refusal of a second use, of `kit.refuse(…)`. */
  readonly refuse: () => OAuthError
}

/** A proof that was not used when the request came. */
export interface UsableProof extends Omit<SingleUse, 'id'> {
  /** The key of the marker of a used proof. */
  readonly key: string
}

/**
 * A way to bind tokens to a key, so that a stolen token is useless without it: DPoP (RFC 9449), mutual TLS (RFC 8705).
 * The plugin verifies which key a request proves. The core writes `cnf` and `token_type`, binds refresh tokens, compares
 * keys wherever a token is used, and refuses a token whose binding no plugin can verify.
 *
 * @see RFC 7800 section 3.1
 */
export interface TokenBinding extends Defined<'token-binding'> {
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
   * Refuses, with `kit.refuse(…)`, a request that its client must repeat, such as one without a nonce. Called before the
   * client is authenticated, wherever `prove` is called for a client: it can repeat the request with the same client
   * assertion.
   */
  readonly admit?: ((request: EndpointRequest, kit: Kit) => MaybePromise<void>) | undefined
  /**
   * Returns the key that the request proves, or `undefined` if it proves none. Throw `kit.refuse(…)` for an invalid
   * proof. Throw one for a missing proof if the client requires it and the request asks for tokens. Called for every
   * request for tokens, for endpoints with `readsProofs`, and for a valid access token that this binding has bound.
   */
  prove(request: ProofRequest, kit: Kit): MaybePromise<Proof | undefined>
}

/** What a request has proved, and the headers that the response gets. */
export interface Proved {
  readonly confirmation?: Confirmation | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The proofs that are accepted once, in the order in which they were verified. */
  readonly usable?: readonly UsableProof[] | undefined
}

/** What a key proof needs of the provider. */
export interface KeyProofDeps {
  readonly issuer: string
  readonly store: Store
  readonly runtime: Runtime
  readonly kitOf: (plugin: string) => Kit
}

/** A valid access token, and how a request presents it. */
export interface TokenUse {
  readonly token: string
  /** The scheme that the request uses. */
  readonly scheme: string
  readonly client: Client
  /** The keys that the token is bound to. */
  readonly confirmation: Confirmation | undefined
}

/** Finds out which keys a request proves, with the token bindings of the plugins. */
export interface KeyProofs {
  /** Refuses a request that its client must repeat. `undefined` if no plugin does. */
  readonly admit: ((request: EndpointRequest) => Promise<void>) | undefined
  /** Returns the keys that a request of a client proves. What is accepted once is not used up yet. */
  prove(request: EndpointRequest, client: Client, asksForTokens: boolean): Promise<Proved>
  /**
   * Checks that a request proves every key to which its access token is bound, and uses the scheme of the token, and uses
   * up its proofs. Returns `undefined` if there is nothing to prove.
   *
   * @throws OAuthError `invalid_token`, or that of the plugin for an invalid proof.
   */
  confirm(facts: () => EndpointRequest, use: TokenUse): Promise<Proved> | undefined
  /** Uses proofs up. Of concurrent requests with one of them, in all processes, one gets through. @throws OAuthError */
  useUp(proofs: readonly UsableProof[] | undefined): MaybePromise<void>
}

/** The token bindings of the installed plugins. */
export interface TokenBindings {
  /** Whether any plugin binds tokens. */
  readonly areInstalled: boolean
  /** Whether plugins can verify all these keys. */
  canVerify(confirmation: Confirmation | undefined): boolean
  /** Returns the scheme of tokens that are bound to these keys: that of a binding, or `Bearer`. */
  schemeOf(confirmation: Confirmation | undefined): string
  /** Returns the keys, of those that a request has proved, to which a new refresh token is bound. */
  refreshConfirmationOf(client: Client, proved: Confirmation | undefined): Confirmation | undefined
  /** The schemes of access tokens, with the parameters of their challenges. `Bearer` is the first. */
  readonly schemes: readonly [TokenScheme, ...TokenScheme[]]
  /** Response headers that bindings set, in lower case. */
  readonly exposedHeaders: readonly string[]
  createKeyProofs(deps: KeyProofDeps): KeyProofs
}

export const bearer = 'Bearer'

export const nothingProved: Proved = Object.freeze({})

export const notConfirmed = (reason: string): OAuthError =>
  new OAuthError('invalid_token', 'The access token is not valid', { reason })

/**
 * Returns the markers that these proofs are used up.
 *
 * @throws OAuthError when one of the proofs has ended meanwhile: its marker would not outlast a second use.
 */
export const markersOf = (
  proofs: readonly UsableProof[],
  marker: SpentRecord,
  now = marker.spentAt,
): readonly NewRecord[] =>
  proofs.map(({ key, expiresAt, refuse }) => {
    if (expiresAt <= now) throw refuse()
    return { key, value: marker, expiresAt }
  })

/** @throws OAuthError when one of these markers existed: the proof is used up already. */
export function assertUnused(proofs: readonly UsableProof[], existing: readonly string[]): void {
  const used = proofs.find(({ key }) => existing.includes(key))
  if (used !== undefined) throw used.refuse()
}

/** Without a plugin that binds tokens, no request proves a key, and a token that is bound to one cannot be used. */
export const noBindings: TokenBindings = {
  areInstalled: false,
  canVerify: (keys) => keys !== undefined && Object.keys(keys).length === 0,
  schemeOf: () => bearer,
  refreshConfirmationOf: () => undefined,
  schemes: [{ name: bearer, parameters: '' }],
  exposedHeaders: [],
  createKeyProofs: () => ({
    admit: undefined,
    prove: async () => nothingProved,
    confirm: (_facts, { confirmation }) =>
      confirmation === undefined ? undefined : Promise.reject(notConfirmed('proof_missing')),
    useUp: () => undefined,
  }),
}

// Who may use what was issued: the client that it was issued to, with the keys that it is bound to. The only place that
// compares them, so that a mismatch has the same reason everywhere.

/** Reads a claim `cnf`. Returns `undefined` if it is malformed, or names no key. */
export function parseConfirmation(cnf: unknown): Confirmation | undefined {
  const isValid = isObject(cnf) && !Array.isArray(cnf) && Object.values(cnf).every(isString)
  return isValid && Object.keys(cnf).length > 0 ? (cnf as Confirmation) : undefined
}

/** Returns the reason why a client may not use what was issued to `clientId`; `undefined` if it may. */
export const clientProblem = (clientId: unknown, caller: { readonly clientId: string }) =>
  clientId === caller.clientId ? undefined : ('client_mismatch' as const)

/**
 * Returns the reason why a request that has proved some keys may not use what is bound to others; `undefined` if it may. A
 * malformed confirmation, and one without a key, fits no key.
 *
 * @param cnf `undefined` for what is bound to no key
 */
export function keyProblem(cnf: unknown, proved: Confirmation | undefined) {
  if (cnf === undefined) return undefined
  const required = parseConfirmation(cnf)
  const fits = required !== undefined && Object.entries(required).every(([member, key]) => proved?.[member] === key)
  if (fits) return undefined
  return proved === undefined ? ('proof_missing' as const) : ('wrong_key' as const)
}
