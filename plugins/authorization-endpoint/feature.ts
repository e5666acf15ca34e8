import type { Client, Confirmation, EndpointKit, PluginPart } from '@grantry/core'
import type { InteractionServices } from './interaction.ts'
import type { AuthorizationParameters } from './parameters.ts'
import type { Session, SessionListeners } from './sessions.ts'

/** A request that the client has sent to another endpoint before. */
export interface PushedRequest {
  readonly params: AuthorizationParameters
  readonly confirmation: Confirmation | undefined
  /** The epoch of the client at the push. */
  readonly clientEpoch?: string | undefined
}

/** Where `request_uri` values of this provider lead. */
export interface PushedRequests {
  /** Whether it can be the URI of a pushed request. */
  includes(requestUri: string): boolean
  /** Whether a request of the client must be pushed. */
  isRequired(client: Client): boolean
  /** Returns `undefined` if it is unknown, has expired, was used, belongs to another client, or the client was revoked. */
  find(kit: EndpointKit, requestUri: string, clientId: string): Promise<PushedRequest | undefined>
  /** Uses it. `false` if it was used before. */
  use(kit: EndpointKit, requestUri: string): Promise<boolean>
}

/** An optional part of the endpoint, which shares its records, sessions and requests. */
export interface AuthorizationFeature extends SessionListeners {
  parts(services: InteractionServices): readonly PluginPart[]
  readonly pushed?: PushedRequests | undefined
  /** Called before a client receives a code of a session. */
  readonly onAuthorized?: ((kit: EndpointKit, session: Session, client: Client) => Promise<void>) | undefined
  /**
   * Whether identity tokens of the client need the `sid` of the session, because the client can receive logout tokens.
   * Clients with `postLogoutRedirectUris` always get it.
   */
  readonly needsSid?: ((client: Client) => boolean) | undefined
}
