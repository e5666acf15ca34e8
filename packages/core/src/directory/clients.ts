import * as v from 'valibot'
import { createBoundedMap } from '../bounded-map.ts'
import { allSteps } from '../config-problems.ts'
import { parseConfiguration, placeInList } from '../config-schema.ts'
import { after } from '../promises.ts'
import type { MaybePromise } from '../types.ts'
import type { Client, ClientOptions, ClientWithSecrets, clientSchema } from './client.ts'
import type { ClientDirectory, ClientSecrets, ClientStore, UnknownCaller } from './client-directory.ts'
import { clientEntries } from './client-members.ts'
import { withoutRefusal } from './client-refusal.ts'
import { createHostPort, guarded, type HostLimits } from './host-port.ts'
import { redirectUriProblem } from './redirect-uri.ts'
import { always, type RenewingStore } from './renewing-store.ts'
import { assertSecrets, secretRow } from './secret.ts'

const noSecrets: ClientSecrets = { stored: [], malformed: 0 }

/** Freezes a client: plugins receive it, and the core decides by it. */
function frozen(client: Client): Client {
  for (const value of Object.values(client)) if (Array.isArray(value)) Object.freeze(value)
  Object.freeze(client.refreshToken)
  return Object.freeze(client)
}

/**
 * Parses clients and keeps their secrets apart, so that no plugin or host function receives them. Done once for each
 * client, not for each request.
 */
function createParser(schema: typeof clientSchema) {
  const secretsByClient = new WeakMap<Client, ClientSecrets>()
  return {
    parse(options: unknown, where: string): Client {
      const { secrets, ...client } = parseConfiguration(schema, options, where) as ClientWithSecrets
      secretsByClient.set(client, secrets)
      return frozen(client)
    },
    secretsOf: (client: Client): ClientSecrets => secretsByClient.get(client) ?? noSecrets,
  }
}

function fromArray(options: readonly ClientOptions[], schema: typeof clientSchema): ClientDirectory {
  const { parse, secretsOf } = createParser(schema)
  const clients = new Map<string, Client>()
  const add = (option: ClientOptions, index: number): void => {
    const where = placeInList('clients', index, option)
    const client = parse(option, where)
    assertSecrets(option.secrets, where)
    if (clients.has(client.clientId)) throw new TypeError(`clients: two clients have the clientId ${client.clientId}`)
    clients.set(client.clientId, client)
  }
  allSteps(options.map((option, index) => () => add(option, index)))
  const all = [...clients.values()]
  const origins = new Set(all.filter((client) => client.enabled).flatMap((client) => client.allowedCorsOrigins))
  return {
    find: (clientId) => clients.get(clientId),
    reread: ({ clientId }) => clients.get(clientId),
    secretsOf,
    isKnown: (clientId) => clients.has(clientId),
    secretVerifierOf: () => undefined,
    isOriginAllowed: (origin) => origins.has(origin),
    all,
    hasUnlisted: false,
  }
}

const isUsable = (uri: unknown): boolean => typeof uri !== 'string' || redirectUriProblem(uri) === undefined

/**
 * Prepares a client of a client store for the schema. A malformed secret or redirect URI does not disable the client: a
 * malformed secret matches nothing, and a malformed redirect URI is removed, so it gets no code.
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

/** Names the client of a malformed row. An id of another form could be a secret, or forge a line of the log. */
function nameOf({ clientId }: ClientOptions): string {
  const isId = v.is(clientEntries.clientId, clientId)
  return isId ? ` of the client ${clientId}` : ' of a client without a valid clientId'
}

/** The maximum number of client ids that a process remembers. */
const maxIds = 10_000

/** What a client store and a source of a plugin have in common. */
type AnyStore = Omit<ClientStore, 'find'> &
  RenewingStore & {
    find(clientId: string, caller: UnknownCaller | undefined): MaybePromise<ClientOptions | undefined>
  }

/** Is called once for each malformed client, which then counts as unknown. */
export type OnMalformedClient = (problem: string) => void

/**
 * @param owner the name of the store in events
 * @param onMalformed absent: a malformed client makes the requests for it fail
 */
function fromStore(
  store: AnyStore,
  schema: typeof clientSchema,
  limits: HostLimits,
  owner = 'clients',
  onMalformed?: OnMalformedClient,
): ClientDirectory {
  const { parse, secretsOf } = createParser(schema)
  const parsed = new WeakMap<ClientOptions, { readonly client: Client | undefined }>()
  function parseNew(options: ClientOptions): Client | undefined {
    try {
      return parse(clientRow(options), `${owner}.find()${nameOf(options)}`)
    } catch (thrown) {
      if (onMalformed === undefined || !(thrown instanceof TypeError)) throw thrown
      onMalformed(thrown.message)
      return undefined
    }
  }
  const parseOnce = (options: ClientOptions | undefined): Client | undefined => {
    if (options === undefined || options === null) return undefined
    const known = parsed.get(options)
    if (known !== undefined) return known.client
    const client = parseNew(options)
    parsed.set(options, { client })
    return client
  }
  const ids = createBoundedMap<true>(maxIds)
  const remember = (client: Client | undefined): Client | undefined => {
    if (client !== undefined && ids.get(client.clientId) === undefined) ids.set(client.clientId, true)
    return client
  }
  const findPort = createHostPort(`${owner}.find`, limits)
  const verifySecret = guarded(`${owner}.verifySecret`, store.verifySecret?.bind(store), limits)
  const isOriginAllowed = guarded(`${owner}.isOriginAllowed`, store.isOriginAllowed?.bind(store), limits)
  return {
    // Parsed inside the port, so that a malformed client is a rejection too.
    find(clientId, _known, caller) {
      const outcome = findPort(() => after(store.find(clientId, caller), (stored) => remember(parseOnce(stored))))
      return caller === undefined ? withoutRefusal(outcome) : outcome
    },
    renewed: (client) =>
      store.renew &&
      findPort(() =>
        after(store.renew?.(client.clientId), (stored) => {
          const present = parseOnce(stored)
          return present === client ? undefined : present
        }),
      ),
    reread({ clientId }) {
      const read = () => (store.renew === undefined ? store.find(clientId, undefined) : store.renew(clientId, always))
      return withoutRefusal(findPort(() => after(read(), parseOnce)))
    },
    secretsOf,
    isKnown: (clientId) => ids.get(clientId) === true,
    secretVerifierOf: () => verifySecret,
    isOriginAllowed: (origin) => isOriginAllowed?.(origin) ?? false,
    all: [],
    hasUnlisted: true,
  }
}

const isStore = (clients: readonly ClientOptions[] | ClientStore): clients is ClientStore => !Array.isArray(clients)

export const openClientSource = (
  plugin: string,
  {
    matches,
    yields,
    ...store
  }: Pick<AnyStore, 'find' | 'isOriginAllowed'> & RenewingStore & Pick<ClientDirectory, 'matches' | 'yields'>,
  schema: typeof clientSchema,
  limits: HostLimits,
  onMalformed: OnMalformedClient,
): ClientDirectory => ({ ...fromStore(store, schema, limits, plugin, onMalformed), matches, yields })

/** @throws TypeError when a client is malformed, two clients have the same id, or a client store has no `find()`. */
export function openClients(
  clients: readonly ClientOptions[] | ClientStore,
  schema: typeof clientSchema,
  limits: HostLimits,
): ClientDirectory {
  if (!isStore(clients)) return fromArray(clients, schema)
  if (typeof clients.find !== 'function') {
    throw new TypeError('clients must be an array of clients, or an object with find(clientId)')
  }
  return fromStore(clients, schema, limits)
}
