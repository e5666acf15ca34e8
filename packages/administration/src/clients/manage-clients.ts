import {
  type ClientOptions,
  type Entry,
  type EntryKind,
  type EntryStore,
  isJsonObject,
  type Json,
  type JsonObject,
  type Runtime,
} from '@grantry/core'
import type { Administrator } from '../audit.ts'
import type { ManageDeps } from '../entry-writes.ts'
import { type EditOptions, type EntryManager, manageEntries } from '../manage-entries.ts'
import { type Managed, managedIn } from '../managed-entry.ts'
import { refused } from '../refusal.ts'
import { createNewSecret, type RotatedSecret, rotateSecret } from '../secrets.ts'
import { clientType } from './client-type.ts'

/** The maximum number of attempts to change an origin that others change at the same time. */
const maxTries = 20

/** Clients that can allow one origin. */
const maxClients = 1000

/** Returns the id of the entry of an origin. */
export const originId = (origin: string, { sha256Hex }: Pick<Runtime, 'sha256Hex'>): string =>
  sha256Hex(origin).slice(0, 40)

/** Returns the hashes of the clients that allow an origin; empty if the entry has an unknown form. */
export function clientsOfOrigin({ value }: Entry): readonly string[] {
  const clients = isJsonObject(value) ? value.clients : undefined
  return Array.isArray(clients) ? clients.filter((client) => typeof client === 'string') : []
}

/** Returns the origins whose pages can read responses to this client. */
export const originsOf = (client: ClientOptions | undefined): readonly string[] =>
  client === undefined || client.enabled === false ? [] : (client.allowedCorsOrigins ?? [])

/** A client of an origin, at the version before a change of the client. */
type Allowance = Pick<Entry, 'id' | 'version' | 'value'>

/** The origins that clients allow. */
export interface Origins {
  /** Adds a client to an origin, before the client allows it. */
  allow(origin: string, clientId: string): Promise<void>
  /** Returns the argument of `withdraw()`. Call it before the client changes. */
  find(origin: string): Promise<Allowance | undefined>
  /** Removes a client from an origin, unless any client was added to it meanwhile. */
  withdraw(allowance: Allowance, clientId: string): Promise<void>
}

function createOrigins(entries: EntryStore, runtime: Pick<Runtime, 'sha256Hex'>): Origins {
  /** A short hash, because an origin can have a thousand of them. */
  const nameOf = (clientId: string): string => runtime.sha256Hex(clientId).slice(0, 24)

  /** Writes once. `undefined` if another call changes the origin at the same time. */
  async function attempt(origin: string, name: string): Promise<Entry | undefined> {
    const id = originId(origin, runtime)
    const entry = await entries.get('origin', id)
    if (entry === undefined) return entries.create('origin', id, { origin, clients: [name] })
    const others = clientsOfOrigin(entry).filter((allowed) => allowed !== name)
    if (others.length >= maxClients) {
      const message = `${maxClients} clients allow the origin ${origin}, which is the maximum`
      throw refused('invalid', message, { member: 'allowedCorsOrigins' })
    }
    // Writes a new version even for the same clients, so that a call that has read the entry before withdraws nothing.
    return entries.replace('origin', id, entry.version, { origin, clients: [...others, name] })
  }

  return {
    async allow(origin, clientId) {
      for (let tries = 0; tries < maxTries; tries += 1) {
        if ((await attempt(origin, nameOf(clientId))) !== undefined) return
      }
      throw refused('outdated', `others change clients with the origin ${origin} at the same time; try again`)
    },
    find: (origin) => entries.get('origin', originId(origin, runtime)),
    async withdraw({ id, version, value }, clientId) {
      const name = nameOf(clientId)
      const clients = clientsOfOrigin({ id, version, value }).filter((allowed) => allowed !== name)
      if (clients.length === 0) await entries.remove('origin', id, version)
      else await entries.replace('origin', id, version, { ...(value as JsonObject), clients })
    },
  }
}

type Changes = Pick<EntryStore, 'create' | 'replace' | 'remove'>

const clientIn = (id: string, value: Json | undefined): ClientOptions | undefined =>
  value === undefined ? undefined : managedIn(clientType, { id, version: '', value })?.value

function clientChanges(entries: EntryStore, runtime: Pick<Runtime, 'sha256Hex'>): Changes {
  const { allow, find, withdraw } = createOrigins(entries, runtime)

  /** Changes a client from one value to another, with its origins. */
  async function change<T>(
    id: string,
    [before, after]: readonly [before: Json | undefined, after: Json | undefined],
    write: () => Promise<T>,
    isWritten: (result: T) => boolean,
  ): Promise<T> {
    const kept = originsOf(clientIn(id, after))
    for (const origin of kept) await allow(origin, id)
    const dropped = originsOf(clientIn(id, before)).filter((origin) => !kept.includes(origin))
    const allowances = await Promise.all(dropped.map(find))
    const result = await write()
    if (isWritten(result)) {
      for (const allowance of allowances) if (allowance !== undefined) await withdraw(allowance, id)
    }
    return result
  }

  const isEntry = (entry: unknown): boolean => entry !== undefined

  return {
    create: (kind, id, value) => change(id, [undefined, value], () => entries.create(kind, id, value), isEntry),
    async replace(kind, id, version, value) {
      const present = await entries.get(kind, id)
      const write = () => entries.replace(kind, id, version, value)
      return present?.version === version ? change(id, [present.value, value], write, isEntry) : undefined
    },
    async remove(kind, id, version) {
      const present = await entries.get(kind, id)
      return change(id, [present?.value, undefined], () => entries.remove(kind, id, version), Boolean)
    },
  }
}

/**
 * Returns entries in which each change of a client keeps the origins of browsers that it allows: new ones are written
 * before, old ones removed afterwards. A process can be killed after each write. The worst result is an origin whose
 * pages can read responses although no client allows it. It gets no token by that.
 */
export function clientEntries(entries: EntryStore, runtime: Pick<Runtime, 'sha256Hex'>): EntryStore {
  const clients = clientChanges(entries, runtime)
  const of = (kind: EntryKind): Changes => (kind === 'client' ? clients : entries)
  return {
    ...entries,
    create: (kind, id, value) => of(kind).create(kind, id, value),
    replace: (kind, id, version, value) => of(kind).replace(kind, id, version, value),
    remove: (kind, id, version) => of(kind).remove(kind, id, version),
  }
}

/** A client, and its secret if this change has created one. The secret is not stored, and cannot be shown again. */
export interface WithSecret {
  readonly client: Managed<ClientOptions>
  readonly secret?: string | undefined
}

export interface ClientManager extends Omit<EntryManager<ClientOptions>, 'add'> {
  /** Adds a client, with a new secret unless it is public, has a key or a rule for workloads, or names its secrets. */
  add(client: ClientOptions, tags?: readonly string[]): Promise<WithSecret>
  /** Adds a secret. The secrets that the client has end after `overlap` seconds, or when they end anyway. */
  rotateSecret(
    clientId: string,
    overlap: number,
    options?: Pick<EditOptions, 'version'>,
  ): Promise<WithSecret & RotatedSecret>
}

type Deps = ManageDeps<ClientOptions> & { readonly runtime: Pick<Runtime, 'randomBytes' | 'base64url' | 'sha256Hex'> }

/** Methods with which a client proves that it has a key. */
const keyMethods: readonly unknown[] = [
  'private_key_jwt',
  'tls_client_auth',
  'self_signed_tls_client_auth',
  'workload_jwt',
  'spiffe_jwt',
  'none',
]

/**
 * Whether a client that is new gets a secret: not a public one, or one that names its secrets, that has a key, or a rule for
 * tokens of its platform.
 */
export const needsNewSecret = (
  client: Pick<ClientOptions, 'public' | 'secrets' | 'tokenEndpointAuthMethod'> & { readonly workload?: unknown },
): boolean =>
  client.public !== true &&
  client.secrets === undefined &&
  client.workload === undefined &&
  !keyMethods.includes(client.tokenEndpointAuthMethod)

function assertConfidential({ clientId, public: isPublic }: ClientOptions): void {
  if (isPublic !== true) return
  throw refused('invalid', `the client ${clientId} is public: it has no secret`, { member: 'public' })
}

/** Manages the clients in the storage in the name of an administrator. */
export function manageClients(deps: Deps, by: Administrator): ClientManager {
  const entries = clientEntries(deps.entries, deps.runtime)
  const manager = manageEntries(clientType, { ...deps, entries }, by)
  const newSecret = createNewSecret(deps.runtime)

  return {
    ...manager,
    async add(client, tags) {
      if (!needsNewSecret(client)) return { client: await manager.add(client, tags) }
      const { secret, hash } = newSecret()
      return { client: await manager.add({ ...client, secrets: [hash] }, tags), secret }
    },
    async rotateSecret(clientId, overlap, options = {}) {
      const change = { ...options, action: 'client_secret_rotated' }
      const rotation = { now: deps.now, newSecret }
      const { rotated, ...secrets } = await rotateSecret(
        manager,
        clientId,
        overlap,
        change,
        rotation,
        assertConfidential,
      )
      return { client: rotated, ...secrets }
    },
  }
}
