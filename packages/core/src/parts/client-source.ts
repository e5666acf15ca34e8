import type { ClientOptions } from '../directory/client.ts'
import type { MaybePromise } from '../types.ts'
import type { Kit } from './kit.ts'
import { partKind, required } from './part-kind.ts'

/** Clients that a plugin keeps, such as registered ones, besides those of the option `clients`. */
export interface ClientSource {
  readonly kind: 'client-source'
  /**
   * Returns the client with this id. It is validated like a client of the host, and cached by object identity. A client
   * that two sources know is refused, because it is not clear which one was meant. Called for every request that names
   * a client.
   */
  find(clientId: string, kit: Kit): MaybePromise<ClientOptions | undefined>
}

/** Defines a source of clients. */
export const defineClientSource = (source: Omit<ClientSource, 'kind'>): ClientSource => ({
  ...source,
  kind: 'client-source',
})

export const clientSourceKind = partKind<ClientSource>('client source', { find: required })
