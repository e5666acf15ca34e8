import * as v from 'valibot'
import { functionSchema } from '../config-schema.ts'
import type { Client } from '../directory/client.ts'
import type { RequestParameters } from '../http/parameters.ts'
import type { MaybePromise } from '../types.ts'
import type { Callers } from './endpoint.ts'
import type { RequestFacts } from './grant.ts'
import type { Kit } from './kit.ts'
import { byClaim, type Defined, mark, type Owned, partKind, required, text } from './part-kind.ts'

/** What a request presents to prove which client sends it. */
export interface PresentedCredentials {
  /** The client that the request names. At introspection, the name of the scope. */
  readonly clientId: string
  /** Why the credentials cannot be right: a reason for events. The core refuses them without looking up the client. */
  readonly malformed?: string | undefined
}

/** Credentials with a secret, which the core compares with the stored ones. */
export interface PresentedSecret extends PresentedCredentials {
  readonly secret: string
}

/**
 * Facts about the HTTP request that client authentication may need. Unlike for a grant, `header('authorization')` returns
 * the header.
 */
export type CredentialFacts = Pick<RequestFacts, 'header' | 'clientAddress' | 'clientCertificate'> & {
  /** The URL of the endpoint that was called, and its alias in `mtls_endpoint_aliases`. */
  readonly endpointUrls: readonly string[]
}

/** Why credentials are refused, for events only. */
export interface CredentialRefusal {
  /** A stable code of lower-case letters, digits and `_`. Events contain it as a reason of the plugin. */
  readonly reason: string
  /** For the operator: what was wrong, and which setting would allow it. It must not contain a secret. */
  readonly detail?: string | undefined
}

interface Method<P extends PresentedCredentials> extends Defined<'client-authentication'> {
  /** Its value in `token_endpoint_auth_methods_supported`, such as `private_key_jwt`. */
  readonly method: string
  /**
   * The form fields that it reads, besides `client_id`. The core hides them from grants and grant checks, and leaves them
   * out of the identity of a retry. A request with a field of another method is refused (RFC 6749 section 2.3).
   */
  readonly consumes: readonly string[]
  /** Whether it reads the `Authorization` header. The core refuses a header that the method in use does not read. */
  readonly readsAuthorization?: true | undefined
  /**
   * Set it if what the method reads is not a credential by itself, such as a `client_id` alone or the certificate of the
   * connection. The core then asks it only after every other method has found nothing. If several such methods present
   * the client, it uses the one that accepts the client.
   */
  readonly implicit?: true | undefined
  /**
   * Set it if another method reads the same form fields, and this one presents only some of what they can contain, such
   * as assertions of certain issuers. The core asks it first. If it presents something, the other one is not asked.
   */
  readonly selective?: true | undefined
  /**
   * Returns what the request presents, or `undefined` if it does not use this method. Throw `invalid_client`, from
   * `kit.refuse`, if it uses the method, but names no client.
   */
  present(parameters: RequestParameters, request: CredentialFacts, kit: Kit): P | undefined
  /** Returns another reading of the same credentials, which the core tries if the first one is refused. */
  readonly alternative?: ((presented: P) => P | undefined) | undefined
}

/** A method whose proof the plugin verifies. */
export interface ProofMethod<P extends PresentedCredentials = PresentedCredentials> extends Method<P> {
  /**
   * Set it if no caller can guess the proof, such as a signature with a private key. Its failures then do not count as
   * guesses, and the limit of an address does not apply to it: clients behind one address would lock each other out.
   */
  readonly unguessable?: true | undefined
  /**
   * Whether the client is configured for this method. Checked at startup, where a client that no method accepts is an
   * error, and again after `verify`.
   */
  accepts(client: Client): boolean
  /**
   * Returns `true` if the proof is valid, or the reason for events why it is not. The core also calls it for an unknown
   * client and ignores the result: do the same work then, so that the response time does not reveal which clients exist.
   * It is also called for a disabled client, and one that `accepts` rejects.
   */
  verify(presented: P, client: Client | undefined, kit: Kit): MaybePromise<true | CredentialRefusal>
}

/**
 * A method that presents a secret. The core verifies it, so the plugin does not see what is stored. APIs can use the
 * method too, for introspection.
 */
export interface SecretMethod<P extends PresentedSecret = PresentedSecret> extends Method<P> {
  readonly accepts?: undefined
  readonly verify?: undefined
}

/**
 * A method of client authentication. The plugin reads the credentials and, unless they are a secret, verifies them. The
 * core limits failed attempts, refuses disabled clients and requests with two methods, and records the events. Every
 * failure is the same 401.
 *
 * @see RFC 6749 section 2.3; wire contract, section 2
 */
export type ClientAuthentication = ProofMethod | SecretMethod

/** Parameters that the core reads itself. */
const coreParameters = ['grant_type', 'scope', 'client_id']

const methodKind = /* @__PURE__ */ partKind<ClientAuthentication>('client-authentication', {
  title: 'authentication method',
  name: 'method',
  schemas: () => ({
    method: text(/^[a-z][a-z\d_]{0,99}$/u, 'must be lower-case letters, digits and _, as in private_key_jwt'),
    consumes: v.array(
      v.pipe(
        v.string('must be the name of a form field'),
        v.check((field) => !coreParameters.includes(field), 'is a parameter that the core reads; remove it'),
      ),
      'must be an array of form fields',
    ),
    readsAuthorization: mark(),
    implicit: mark(),
    selective: mark(),
    unguessable: mark(),
    present: required(),
    alternative: functionSchema(),
    accepts: functionSchema(),
    verify: functionSchema(),
  }),
  problemOf({ accepts, verify, ...more }) {
    if ((accepts === undefined) !== (verify === undefined)) return 'requires both verify() and accepts(), or neither'
    return 'unguessable' in more && more.unguessable && verify === undefined && 'can be unguessable only with verify()'
  },
  collect: (parts) => parts,
})

/** Defines a method of client authentication, with `presented` typed by what `present` returns. */
export function defineClientAuthentication<P extends PresentedSecret>(
  method: Omit<SecretMethod<P>, keyof Defined>,
): SecretMethod
export function defineClientAuthentication<P extends PresentedCredentials>(
  method: Omit<ProofMethod<P>, keyof Defined>,
): ProofMethod
export function defineClientAuthentication(method: object): ClientAuthentication {
  return { ...method, kind: 'client-authentication', '~kind': methodKind } as ClientAuthentication
}

/** @throws TypeError when two plugins provide the same method. */
export const assertMethods = (methods: readonly Owned<ClientAuthentication>[]): unknown =>
  byClaim(methods, 'the authentication method', ({ method }) => method)

/** The parameters that contain the credentials of each kind of caller. */
export type CredentialParameters = Readonly<Record<keyof Callers, readonly string[]>>

/** Returns the parameters that endpoints cannot declare and do not receive. */
export function credentialParametersOf(methods: readonly Owned<ClientAuthentication>[]): CredentialParameters {
  const fields = ['client_id', ...methods.flatMap(({ part }) => part.consumes)]
  return { client: fields, scope: fields, token: ['access_token'], anyone: [] }
}

/**
 * Returns the form fields that grants and checks cannot declare and do not receive, with the plugin that reads each:
 * `core`, or the plugin of an authentication method.
 */
export const hiddenParametersOf = (methods: readonly Owned<ClientAuthentication>[]): ReadonlyMap<string, string> =>
  new Map([
    ...methods.flatMap(({ plugin, part }) => part.consumes.map((field) => [field, plugin] as const)),
    ...coreParameters.map((field) => [field, 'core'] as const),
  ])
