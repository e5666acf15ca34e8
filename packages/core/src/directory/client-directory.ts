import type { MaybePromise } from '../types.ts'
import type { Client, ClientOptions, ClientWithSecrets } from './client.ts'

/** A source of clients, such as a database or an admin API. */
export interface ClientStore {
  /**
   * Returns the client with this id. Results are cached by object identity: return a new object when the client
   * changes.
   */
  find(clientId: string): MaybePromise<ClientOptions | undefined>
  /** Verifies a client secret, instead of the stored hashes. Must compare in constant time. */
  readonly verifySecret?: ((clientId: string, secret: string) => MaybePromise<boolean>) | undefined
  /** Whether any enabled client has this origin in `allowedCorsOrigins`. Without it, no origin is allowed. */
  readonly isOriginAllowed?: ((origin: string) => MaybePromise<boolean>) | undefined
}

/** The secrets of a client, which no plugin receives. */
export type ClientSecrets = ClientWithSecrets['secrets']

/** A caller who has not authenticated, and names a client. */
export interface UnknownCaller {
  /** The address of the caller, if the adapter knows it. */
  readonly clientAddress: string | undefined
}

/** The core's interface to the clients, whether they come from an array or a client store. */
export interface ClientDirectory {
  /**
   * @param known the client, if an earlier call has returned it. Saves a look-up, unless that was too long ago or for
   * another id.
   * @param caller who names the client, before it has authenticated
   */
  find(clientId: string, known?: Client, caller?: UnknownCaller): MaybePromise<Client | undefined>
  /**
   * Returns the current form of a client that `find()` has returned; `undefined` if the client is unchanged, or
   * nothing newer is known.
   */
  renewed?(client: Client): MaybePromise<Client | undefined>
  /** Reads a client that `find()` has returned from its source again, in any case. */
  reread(client: Client): MaybePromise<Client | undefined>
  /**
   * Whether an id can be that of one of its clients. The directory is not asked for other ids. Default: any id can
   * be.
   */
  readonly matches?: ((clientId: string) => boolean) | undefined
  /** Whether clients of all other directories come first. Default: no. */
  readonly yields?: boolean | undefined
  /** Returns the secrets of a client that `find()` has returned. */
  secretsOf(client: Client): ClientSecrets
  /** Whether a client with this id is known, without a call to the host. For events. */
  isKnown(clientId: string): boolean
  /** Returns the function of the host that verifies the secret of this client, or of an unknown one, if it has any. */
  secretVerifierOf(client: Client | undefined): ClientStore['verifySecret']
  isOriginAllowed(origin: string): MaybePromise<boolean>
  /** All clients of an array; empty for a client store. */
  readonly all: readonly Client[]
  /** Whether it can find clients that are not in `all`. */
  readonly hasUnlisted: boolean
}
