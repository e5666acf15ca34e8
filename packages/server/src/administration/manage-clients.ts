import { randomBytes } from 'node:crypto'
import { type ClientOptions, type Entry, type EntryStore, hashSecret } from '@grantry/core'
import { entryValueOf, type StoredClient, storedClientIn } from './client-entry.ts'

/** A client with its version. */
export interface ManagedClient extends StoredClient {
  readonly version: string
}

/** What an administrator changes. `undefined` removes a member. */
export type ClientChange = Readonly<Record<string, unknown>>

/** A change, for the audit trail. The values of secrets are no members of it. */
export interface AuditedChange {
  readonly action: 'client_added' | 'client_changed' | 'client_removed' | 'client_secret_rotated'
  readonly clientId: string
  /** The members that differ. Absent before it was added, and after it was removed. */
  readonly before?: ClientChange | undefined
  readonly after?: ClientChange | undefined
}

export interface ManageClientsOptions {
  readonly entries: EntryStore
  /** Rejects when the provider would refuse the client. */
  readonly check: (client: ClientOptions) => Promise<void>
  readonly audit: (change: AuditedChange) => Promise<void>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** A secret of 256 bits, which is shown once. */
const newSecret = (): string => randomBytes(32).toString('base64url')

const managed = (entry: Entry): ManagedClient => ({ ...storedClientIn(entry), version: entry.version })

const isMember = ([, value]: readonly [string, unknown]): boolean => value !== undefined

/** Secrets become the number of them and their ends. */
function shown(member: string, value: unknown): unknown {
  if (member !== 'secrets' || !Array.isArray(value)) return value
  return value.map((secret: { readonly expiresAt?: unknown }) => ({ expiresAt: secret?.expiresAt ?? 'never' }))
}

/** The members of the clients that differ, each with its value in the first one. */
function differing(client: object, other: object): ClientChange {
  const others = other as ClientChange
  return Object.fromEntries(
    Object.entries(client).flatMap(([member, value]) =>
      JSON.stringify(value) === JSON.stringify(others[member]) ? [] : [[member, shown(member, value)]],
    ),
  )
}

/** Whether a change only disables a client: that works whatever has become of its scopes and grant types. */
const onlyDisables = (before: ClientOptions, after: ClientOptions): boolean =>
  after.enabled === false &&
  [differing(before, after), differing(after, before)]
    .flatMap((members) => Object.keys(members))
    .every((member) => member === 'enabled')

type Secrets = NonNullable<ClientOptions['secrets']>

/** Returns the secrets that have not ended, each with an end that is not later than `end`. */
const endingSecrets = (secrets: Secrets = [], now: number, end: number): Secrets =>
  secrets.flatMap((secret) => {
    const expiresAt = Math.min(end, secondsOf(secret.expiresAt))
    return expiresAt > now ? [{ ...secret, expiresAt }] : []
  })

const outdated = (clientId: string): TypeError =>
  new TypeError(`the client ${clientId} was changed meanwhile; look at it and try again`)

/** Reads and replaces clients in the storage. */
function createReplacement({ entries, check, audit, now }: ManageClientsOptions) {
  async function existing(clientId: string): Promise<ManagedClient> {
    const entry = await entries.get('client', clientId)
    if (entry === undefined) throw new TypeError(`there is no client ${clientId} in the storage; check the spelling`)
    return managed(entry)
  }

  /** @param version the one that the administrator has seen; default: the current one */
  async function replace(
    clientId: string,
    version: string | undefined,
    action: AuditedChange['action'],
    change: (found: ManagedClient) => Partial<StoredClient>,
  ): Promise<ManagedClient> {
    const found = await existing(clientId)
    if (version !== undefined && version !== found.version) throw outdated(clientId)
    const { version: seen, ...stored } = found
    const next: StoredClient = { ...stored, ...change(found), changedAt: new Date(now()).toISOString() }
    if (!onlyDisables(found.client, next.client)) await check(next.client)
    const entry = await entries.replace('client', clientId, seen, entryValueOf(next))
    if (entry === undefined) throw outdated(clientId)
    await audit({
      action,
      clientId,
      before: differing(found.client, next.client),
      after: differing(next.client, found.client),
    })
    return managed(entry)
  }

  return { existing, replace }
}

/** Changes clients in the storage. Every method rejects with a TypeError of one sentence when it refuses. */
export function manageClients(options: ManageClientsOptions) {
  const { entries, check, audit, now } = options
  const { existing, replace } = createReplacement(options)

  return {
    show: existing,
    async *list(prefix: string | undefined): AsyncGenerator<ManagedClient> {
      let after: string | undefined
      do {
        const page = await entries.list('client', { after, limit: 200, prefix })
        yield* page.entries.map(managed)
        after = page.next
      } while (after !== undefined)
    },
    /** Adds a client, with a new secret unless it is public or has secrets. Returns the secret. */
    async add(given: ClientOptions, tags: readonly string[]): Promise<{ client: ManagedClient; secret?: string }> {
      const needsSecret = given.public !== true && (given.secrets ?? []).length === 0
      const secret = needsSecret ? newSecret() : undefined
      const client = { ...given, ...(secret !== undefined && { secrets: [hashSecret(secret)] }) }
      await check(client)
      const time = new Date(now()).toISOString()
      const value = entryValueOf({ client, tags, createdAt: time, changedAt: time })
      const entry = await entries.create('client', client.clientId, value)
      if (entry === undefined)
        throw new TypeError(`there is a client ${client.clientId} already; edit it, or remove it`)
      await audit({ action: 'client_added', clientId: client.clientId, after: differing(client, {}) })
      return { client: managed(entry), ...(secret !== undefined && { secret }) }
    },
    edit: (clientId: string, change: ClientChange, { version, tags }: EditOptions = {}): Promise<ManagedClient> =>
      replace(clientId, version, 'client_changed', ({ client, tags: before }) => ({
        client: Object.fromEntries(
          Object.entries({ ...client, ...change, clientId }).filter(isMember),
        ) as ClientOptions,
        tags: tags ?? before,
      })),
    /** Adds a secret. Those that the client has end after `overlap` seconds, or when they end anyway. */
    async rotateSecret(clientId: string, overlap: number): Promise<{ client: ManagedClient; secret: string }> {
      const secret = newSecret()
      const time = Math.floor(now() / 1000)
      const client = await replace(clientId, undefined, 'client_secret_rotated', (found) => {
        if (found.client.public === true) throw new TypeError(`the client ${clientId} is public: it has no secret`)
        const secrets = [...endingSecrets(found.client.secrets, time, time + overlap), hashSecret(secret)]
        return { client: { ...found.client, secrets } }
      })
      return { client, secret }
    },
    async remove(clientId: string): Promise<void> {
      const { version, client } = await existing(clientId)
      if (!(await entries.remove('client', clientId, version))) throw outdated(clientId)
      await audit({ action: 'client_removed', clientId, before: differing(client, {}) })
    },
  }
}

export interface EditOptions {
  /** The version that the administrator has seen. */
  readonly version?: string | undefined
  readonly tags?: readonly string[] | undefined
}

/** Epoch seconds of the end of a secret. */
function secondsOf(end: unknown): number {
  if (end === undefined || end === null) return Number.POSITIVE_INFINITY
  return typeof end === 'number' ? end : Math.floor(Date.parse(String(end)) / 1000)
}
