import * as v from 'valibot'
import type { ClientOptions, clientSchema } from '../directory/client.ts'
import type { ClientDirectory, UnknownCaller } from '../directory/client-directory.ts'
import { combineClients } from '../directory/client-sources.ts'
import { type OnMalformedClient, openClientSource } from '../directory/clients.ts'
import type { HostLimits } from '../directory/host-port.ts'
import type { RenewOptions } from '../directory/renewing-store.ts'
import type { MaybePromise } from '../types.ts'
import type { Kit } from './kit.ts'
import { type Defined, type Members, type Owned, partKind, required } from './part-kind.ts'

/** Clients that a plugin keeps, such as registered ones, besides those of the option `clients`. */
export interface ClientSource extends Defined<'client-source'> {
  /**
   * Returns the client with this id. It is validated like a client of the host, and cached by object identity. A
   * malformed client is unknown, and an event names the mistake: its plugin may have been removed. A client of the
   * host comes first. A client id that two sources know is refused, because it is ambiguous. Called for every request
   * that names a client that the host does not know synchronously.
   *
   * A refusal (`invalid_client`) says why there is no client. It hides no client of another source, and is ignored
   * for a stored grant or token.
   *
   * @param caller who names the client, before it has authenticated; `undefined` for a client of a stored grant or
   * token. Limit what a caller can cause: the id is any text that `matches` allows.
   */
  find(clientId: string, kit: Kit, caller?: UnknownCaller): MaybePromise<ClientOptions | undefined>
  /**
   * Whether an id can be one of this source, such as a URL. The source is not asked for other ids, so its delays and
   * failures concern its own clients only. Default: any id can be.
   */
  readonly matches?: ((clientId: string) => boolean) | undefined
  /**
   * Whether clients of all other sources come first, and this one is asked only about ids that those do not know: for ids
   * that a caller can choose, such as URLs. Default: no.
   */
  readonly yields?: boolean | undefined
  /**
   * Returns the current form of a client that this source remembers. Called after a wrong secret, which may have just
   * been added. Any caller can cause this call, so read the same client at most once a second, unless `always` is
   * true: then the client has just been revoked, and no token may be issued by the remembered form. A source without
   * it remembers nothing: `find` is called instead.
   */
  readonly renew?:
    | ((clientId: string, kit: Kit, options?: RenewOptions) => MaybePromise<ClientOptions | undefined>)
    | undefined
  /**
   * Whether any enabled client has this origin in `allowedCorsOrigins`. Called for every request of another origin that
   * names no client, such as preflights. Without it, no origin is allowed for the clients of this source.
   */
  readonly isOriginAllowed?: ((origin: string, kit: Kit) => MaybePromise<boolean>) | undefined
}

/** Combines the clients of the host with those that plugins keep. */
export type WithClientSources = (
  host: ClientDirectory,
  deps: {
    readonly schema: typeof clientSchema
    readonly hostLimits: HostLimits
    readonly kitOf: (plugin: string) => Kit
    readonly onMalformed: OnMalformedClient
  },
) => ClientDirectory

const withSources =
  (sources: readonly Owned<ClientSource>[]): WithClientSources =>
  (host, { schema, hostLimits, kitOf, onMalformed }) =>
    combineClients(
      host,
      sources.map(({ plugin, part }) =>
        openClientSource(
          plugin,
          {
            find: (id, caller) => part.find(id, kitOf(plugin), caller),
            matches: part.matches,
            yields: part.yields,
            renew: part.renew && ((id, options) => part.renew?.(id, kitOf(plugin), options)),
            isOriginAllowed:
              part.isOriginAllowed && ((origin) => part.isOriginAllowed?.(origin, kitOf(plugin)) ?? false),
          },
          schema,
          hostLimits,
          onMalformed,
        ),
      ),
    )

const clientSourceKind = /* @__PURE__ */ partKind<ClientSource, WithClientSources>('client-source', {
  title: 'client source',
  schemas: () => ({
    find: required(),
    matches: v.optional(required()),
    yields: v.optional(v.boolean('must be true or false')),
    renew: v.optional(required()),
    isOriginAllowed: v.optional(required()),
  }),
  collect: withSources,
})

/** Returns the part of a plugin that finds the clients which the plugin keeps. */
export const defineClientSource = (source: Members<ClientSource>): ClientSource => ({
  ...source,
  kind: 'client-source',
  '~kind': clientSourceKind,
})
