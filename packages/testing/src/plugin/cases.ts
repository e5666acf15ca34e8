import type { ClientCertificate, ClientOptions, Json, MaybePromise, Plugins, ProviderOptions } from '@grantry/core'
import type { Credentials, NewGrant, Optional, TestProvider } from '../test-provider.ts'

/** The parameters of a request. One that is `undefined` is omitted. */
export type CaseParameters = Readonly<Record<string, Json | undefined>>

/**
 * The argument of the functions of a case: a new provider with the plugin, and the client that will send the request.
 */
export interface CaseContext extends Pick<TestProvider, 'provider' | 'clock' | 'post' | 'get'> {
  readonly clientId: string
  /** The credentials of the client; `undefined` for a public client and one with another method. */
  readonly client: Credentials | undefined
  /**
   * Stores a grant of the user `alice` for the client with `storeGrant`, and returns its credential. Default:
   * the kind of the tested grant, the scope `api1`, a lifetime of a minute, and claims that the tokens must have.
   */
  authorize(more?: Optional<NewGrant>): Promise<string>
  /** Issues tokens of the user `alice` to the client. Returns the token response. */
  // biome-ignore lint/suspicious/noExplicitAny: as in `TestResponse`.
  issue(scope: string): Promise<any>
}

/** The parameters, or a function that creates new ones. */
export type ParametersOf = CaseParameters | ((context: CaseContext) => MaybePromise<CaseParameters>)

/** A request that the plugin must refuse. */
export interface RefusedCase {
  /** The parameters that differ from a request that succeeds. */
  readonly with: ParametersOf
  /** Default: the `refusalCode` of a grant, `invalid_request` for an endpoint. */
  readonly error?: string | undefined
}

interface RequestCase {
  /**
   * The parameters of a request that succeeds. If it can succeed only once, a function that creates new ones. Omit
   * `grant_type`, the credentials of the client, and the scope `api1`.
   */
  readonly succeeds: ParametersOf
  readonly refused?: readonly RefusedCase[] | undefined
  /**
   * Names of parameters and headers that are neither secret nor personal, besides those of the standards, such as
   * `scope`.
   */
  readonly public?: readonly string[] | undefined
}

export interface GrantCase extends RequestCase {
  /** Whether a request can succeed only once. Default: whether `succeeds` is a function. */
  readonly singleUse?: boolean | undefined
  /** Whether the credential belongs to the client. Default: whether the grant redeems a stored grant. */
  readonly boundToClient?: boolean | undefined
  /** The scope of the response. Default: the requested one, or that of the stored grant. */
  readonly scope?: string | undefined
}

export interface EndpointCase extends RequestCase {
  /** Whether a request can succeed only once. Default: `false`. */
  readonly singleUse?: boolean | undefined
  /** Default: the first one of the endpoint. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE' | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** The credentials of a client for one request. */
export interface PreparedCredentials {
  readonly form?: CaseParameters | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The certificate of the connection. */
  readonly clientCertificate?: ClientCertificate | undefined
}

export interface MethodCase {
  /** The configuration of a client that uses the method. */
  readonly client: Optional<ClientOptions>
  /** Returns the credentials for one request. */
  authenticate(context: CaseContext): MaybePromise<PreparedCredentials>
  /** Credentials that must be refused. */
  readonly refused?: readonly ((context: CaseContext) => MaybePromise<PreparedCredentials>)[] | undefined
  /** Whether credentials can be used only once. Default: `false`. */
  readonly singleUse?: boolean | undefined
}

/** A request that proves a key. */
export interface ProvingRequest {
  readonly method: string
  readonly url: string
  /** The access token that it presents; `undefined` at the token endpoint. */
  readonly accessToken: string | undefined
  /** Which of two different keys to prove. */
  readonly key: 'first' | 'second'
}

export interface BindingCase {
  /** Members of the client that sends the requests. */
  readonly client?: Optional<ClientOptions> | undefined
  /** Returns the headers with a new proof for a request. */
  prove(request: ProvingRequest, context: CaseContext): MaybePromise<Readonly<Record<string, string>>>
  /** Returns the certificate of the connection of such a request. */
  readonly clientCertificate?: ((request: ProvingRequest) => ClientCertificate | undefined) | undefined
  /** Functions like `prove` whose proofs must be refused. */
  readonly refused?: readonly BindingCase['prove'][] | undefined
  /** Whether a proof can be used only once. Default: `true`. */
  readonly singleUse?: boolean | undefined
}

/** How to use a plugin, for `testPlugin`. */
export interface PluginCases {
  /** The grants by grant type. */
  readonly grants?: Readonly<Record<string, GrantCase>> | undefined
  /** The endpoints by name. */
  readonly endpoints?: Readonly<Record<string, EndpointCase>> | undefined
  /** The methods of client authentication by name. */
  readonly methods?: Readonly<Record<string, MethodCase>> | undefined
  /** The token bindings by member of `cnf`. */
  readonly bindings?: Readonly<Record<string, BindingCase>> | undefined
  /** Other plugins that the plugin needs, such as the grant of a check. */
  readonly plugins?: Plugins
  /** Members of the clients of the kit. */
  readonly client?: Optional<ClientOptions> | undefined
  /** Options of the provider. `clients` and `scopes` are added to those of the kit. */
  readonly options?:
    | (Optional<Omit<ProviderOptions, 'plugins' | 'storage' | 'clients'>> & {
        readonly clients?: readonly ClientOptions[] | undefined
      })
    | undefined
}
