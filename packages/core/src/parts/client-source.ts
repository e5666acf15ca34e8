import type { ClientOptions } from '../directory/client.ts'
import type { MaybePromise } from '../types.ts'
import type { Kit } from './kit.ts'
import { type Defined, type Members, partKind, required } from './part-kind.ts'

/** Clients that a plugin keeps, such as registered ones, besides those of the option `clients`. */
export interface ClientSource extends Defined<'client-source'> {
  /**
   * Returns the client with this id. It is validated like a client of the host, and cached by object identity. A client
   * that two sources know is refused, because it is not clear which one was meant. Called for every request that names
   * a client.
   */
  find(clientId: string, kit: Kit): MaybePromise<ClientOptions | undefined>
}

export const clientSourceKind = /* @__PURE__ */ partKind<ClientSource>('client-source', {
  title: 'client source',
  schemas: () => ({ find: required() }),
  collect: (parts) => parts,
})

/** Defines a source of clients. */
export const defineClientSource = (source: Members<ClientSource>): ClientSource => ({
  ...source,
  kind: 'client-source',
  '~kind': clientSourceKind,
})
