import * as v from 'valibot'
import { functionSchema } from '../config-schema.ts'
import type { Client } from '../directory/client.ts'
import type { TokenScheme } from '../errors/error-response.ts'
import type { MaybePromise } from '../types.ts'
import type { EndpointRequest } from './endpoint.ts'
import type { Confirmation } from './grant.ts'
import type { Kit } from './kit.ts'
import { byClaim, type Owned, partKind, required, text } from './part-kind.ts'

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

/** Defines a token binding. */
export const defineTokenBinding = (binding: Omit<TokenBinding, 'kind'>): TokenBinding => ({
  ...binding,
  kind: 'token-binding',
})

/** The token bindings of the installed plugins. */
export interface TokenBindings {
  readonly all: readonly Owned<TokenBinding>[]
  /** Whether plugins can verify all these keys. */
  canVerify(confirmation: Confirmation | undefined): boolean
  /** Whether the binding has a scheme besides `Bearer`. */
  hasOwnScheme(member: string): boolean
  /** Returns the scheme of tokens that are bound to these keys: that of a binding, or `Bearer`. */
  schemeOf(confirmation: Confirmation | undefined): string
  /** Returns the keys, of those that a request has proved, to which a new refresh token is bound. */
  refreshConfirmationOf(client: Client, proved: Confirmation | undefined): Confirmation | undefined
  /** The schemes of access tokens, with the parameters of their challenges. `Bearer` is the first. */
  readonly schemes: readonly [TokenScheme, ...TokenScheme[]]
  /** Response headers that bindings set, in lower case. */
  readonly exposedHeaders: readonly string[]
}

export const bearer = 'Bearer'

/** Headers of which the core, or the adapter, decides the value. */
const coreHeaders =
  /^(?:access-control-.*|allow|cache-control|connection|content-.*|date|keep-alive|location|pragma|referrer-policy|retry-after|set-cookie|traceparent|trailer|transfer-encoding|upgrade|vary|www-authenticate|x-.*)$/u
// RFC 9110 section 11.2: a challenge has each parameter once, and the core writes these.
const parameterForm = /^(?!(?:realm|scope|error|error_description)$)[a-z][a-z\d_-]{0,29}$/u

export const bindingKind = partKind<TokenBinding>(
  'token binding',
  {
    member: text(/^[A-Za-z][\w#.:-]{0,49}$/u, 'must be the name of a member of cnf, such as jkt'),
    scheme: v.optional(
      text(
        /^(?:Bearer|(?![Bb][Aa][Ss][Ii][Cc]$|[Bb][Ee][Aa][Rr][Ee][Rr]$)[A-Za-z][\w-]{0,29})$/u,
        'must be the scheme of its tokens, such as DPoP',
      ),
    ),
    challenge: v.optional(
      v.record(
        text(parameterForm, 'is not the name of a parameter that the challenge can have'),
        text(/^[\x20-\x21\x23-\x5B\x5D-\x7E]{0,300}$/u, 'must be printable ASCII without quotes'),
        'must be an object of parameters',
      ),
    ),
    exposedHeaders: v.optional(
      v.array(
        v.pipe(
          text(/^[a-z][a-z\d-]{0,49}$/u, 'must be the name of a header, in lower case'),
          v.check((header) => !coreHeaders.test(header), 'is a header of the core or of the adapter'),
        ),
        'must be an array of headers',
      ),
    ),
    bindsRefreshTokens: functionSchema(),
    admit: functionSchema(),
    prove: required,
  },
  'member',
  ({ scheme = bearer, challenge }) =>
    challenge !== undefined && scheme === bearer && 'can have a challenge only with a scheme of its own',
)

/** @throws TypeError when two plugins provide the same member or scheme. */
export function tokenBindingsOf(all: readonly Owned<TokenBinding>[]): TokenBindings {
  const byMember = byClaim(all, 'the token binding', ({ member }) => member)
  const own = byClaim(all, 'the token scheme', ({ scheme = bearer }) =>
    scheme === bearer ? undefined : scheme.toLowerCase(),
  )
  const schemes = new Map([...own.values()].map(({ part }) => [part.member, part.scheme]))
  const parametersOf = ({ challenge = {} }: TokenBinding): string =>
    Object.entries(challenge)
      .map(([name, value]) => `, ${name}="${value}"`)
      .join('')

  function isRefreshBound(client: Client, member: string): boolean {
    if (client.public) return true
    const part = byMember.get(member)?.part
    if (part?.bindsRefreshTokens === undefined) return false
    const isBound: unknown = part.bindsRefreshTokens(client)
    // A promise, for example: a token that should be bound must not be issued unbound.
    if (typeof isBound !== 'boolean') throw new TypeError(`bindsRefreshTokens() of ${member} must return true or false`)
    return isBound
  }

  return {
    all,
    canVerify: (keys) => keys !== undefined && Object.keys(keys).every((member) => byMember.has(member)),
    hasOwnScheme: (member) => schemes.has(member),
    schemeOf(confirmation) {
      const member = Object.keys(confirmation ?? {}).find((name) => schemes.has(name))
      return (member === undefined ? undefined : schemes.get(member)) ?? bearer
    },
    refreshConfirmationOf(client, proved) {
      if (proved === undefined) return undefined
      const bound = Object.entries(proved).filter(([member]) => isRefreshBound(client, member))
      return bound.length === 0 ? undefined : Object.fromEntries(bound)
    },
    schemes: [
      { name: bearer, parameters: '' },
      ...[...own.values()].map(({ part }) => ({ name: part.scheme ?? bearer, parameters: parametersOf(part) })),
    ],
    exposedHeaders: [...new Set(all.flatMap(({ part }) => part.exposedHeaders ?? []))],
  }
}
