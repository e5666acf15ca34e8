import { createBoundedMap } from '../bounded-map.ts'
import { parseConfiguration } from '../configuration.ts'
import type { MaybePromise } from '../json.ts'
import { after } from '../promises.ts'
import { type Client, type ClientOptions, clientSchema } from './client.ts'
import { createHostPort, guarded, type HostLimits } from './host-port.ts'
import { redirectUriProblem } from './redirect-uri.ts'
import { assertSecrets, secretRow } from './secret.ts'

/** Clients that live elsewhere: a database, an admin API. */
export interface ClientStore {
  /** An object is parsed once and remembered by its identity: return a new one when the client changed. */
  find(clientId: string): MaybePromise<ClientOptions | undefined>
  /** A verifier of the host's own, in place of the stored hashes. It compares in constant time. */
  verifySecret?(clientId: string, secret: string): MaybePromise<boolean>
  /** Whether any enabled client lists this origin in `allowedCorsOrigins`; absent: none does. */
  isOriginAllowed?(origin: string): MaybePromise<boolean>
}

/** What the core asks; the same for an array and a store. */
export interface ClientDirectory {
  find(clientId: string): MaybePromise<Client | undefined>
  /** Whether a client has this id, as far as that is known without a question to the host. For events. */
  isKnown(clientId: string): boolean
  readonly verifySecret: ClientStore['verifySecret']
  isOriginAllowed(origin: string): MaybePromise<boolean>
  /** Every client, where all of them are known at start. */
  readonly all: readonly Client[]
}

function fromArray(options: readonly ClientOptions[]): ClientDirectory {
  const clients = new Map<string, Client>()
  for (const [index, option] of options.entries()) {
    const client = parseConfiguration(clientSchema, option, `clients[${index}]`)
    assertSecrets(option.secrets, `clients[${index}]`)
    if (clients.has(client.clientId)) throw new TypeError(`clients: two clients have the clientId ${client.clientId}`)
    clients.set(client.clientId, client)
  }
  const all = [...clients.values()]
  const origins = new Set(all.filter((client) => client.enabled).flatMap((client) => client.allowedCorsOrigins))
  return {
    find: (clientId) => clients.get(clientId),
    isKnown: (clientId) => clients.has(clientId),
    verifySecret: undefined,
    isOriginAllowed: (origin) => origins.has(origin),
    all,
  }
}

const isUsable = (uri: unknown): boolean => typeof uri !== 'string' || redirectUriProblem(uri) === undefined

/**
 * A row of a client table. One malformed secret or redirect URI disables itself, not its client: a secret that is none matches nothing, and no code is made
 * for a redirect URI that is left out.
 */
function clientRow(options: ClientOptions): ClientOptions {
  const { secrets, redirectUris, postLogoutRedirectUris } = options
  return {
    ...options,
    ...(Array.isArray(secrets) && { secrets: secrets.map(secretRow) }),
    ...(Array.isArray(redirectUris) && { redirectUris: redirectUris.filter(isUsable) }),
    ...(Array.isArray(postLogoutRedirectUris) && {
      postLogoutRedirectUris: postLogoutRedirectUris.filter(isUsable),
    }),
  }
}

/** Ids of a client store that one process remembers. */
const mostIds = 10_000

function fromStore(store: ClientStore, limits: HostLimits): ClientDirectory {
  const parsed = new WeakMap<ClientOptions, Client>()
  const parse = (options: ClientOptions | undefined): Client | undefined => {
    if (options === undefined || options === null) return undefined
    const known = parsed.get(options)
    if (known !== undefined) return known
    const client = parseConfiguration(clientSchema, clientRow(options), 'clients.find()')
    parsed.set(options, client)
    return client
  }
  const ids = createBoundedMap<true>(mostIds)
  const remember = (client: Client | undefined): Client | undefined => {
    if (client !== undefined && ids.get(client.clientId) === undefined) ids.set(client.clientId, true)
    return client
  }
  const findPort = createHostPort('clients.find', limits)
  const isOriginAllowed = guarded('clients.isOriginAllowed', store.isOriginAllowed?.bind(store), limits)
  return {
    // Parsed inside the port: a malformed client is a rejection, too.
    find: (clientId) => findPort(() => after(store.find(clientId), (found) => remember(parse(found)))),
    isKnown: (clientId) => ids.get(clientId) === true,
    verifySecret: guarded('clients.verifySecret', store.verifySecret?.bind(store), limits),
    isOriginAllowed: (origin) => isOriginAllowed?.(origin) ?? false,
    all: [],
  }
}

const isStore = (clients: readonly ClientOptions[] | ClientStore): clients is ClientStore => !Array.isArray(clients)

/** @throws TypeError when a client is malformed, two share an id, or a store lacks find(). */
export function openClients(clients: readonly ClientOptions[] | ClientStore, limits: HostLimits): ClientDirectory {
  if (!isStore(clients)) return fromArray(clients)
  if (typeof clients.find !== 'function') {
    throw new TypeError('clients must be an array of clients, or an object whose find(clientId) is a function')
  }
  return fromStore(clients, limits)
}
