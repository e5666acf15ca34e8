import type { AtomicDriver } from '../records/driver.ts'
import { createDriverCalls } from '../records/driver-calls.ts'
import { encodeEnvelope } from '../records/envelope.ts'
import { type Runtime, randomId, webRuntime } from '../runtime.ts'
import type { Json } from '../types.ts'
import {
  type EntryKeys,
  type EntryKind,
  entryKeys,
  entryKinds,
  isEntryId,
  isPresent,
  lifetimeOf,
  parseStored,
  reusesIds,
  revisionLifetime,
  type StoredEntry,
} from './entry-key.ts'

/** Something that an administrator changes while the service runs, such as a client, or the record of a change. */
export interface Entry {
  readonly id: string
  /** Changes with every change of the entry, and is never used again. */
  readonly version: string
  readonly value: Json
}

/** A page of a list. */
export interface EntryPage {
  /** In the order of their ids. */
  readonly entries: readonly Entry[]
  /** The id after which the next page starts; absent on the last page. */
  readonly next?: string | undefined
}

/** The entries of one issuer. Every method rejects with `temporarily_unavailable` when the storage fails. */
export interface EntryStore {
  get(kind: EntryKind, id: string): Promise<Entry | undefined>
  /** Reads entries in one trip. */
  getAll(kind: EntryKind, ids: readonly string[]): Promise<readonly (Entry | undefined)[]>
  /** Returns the new entry; `undefined` if one with this id exists, or did exist in a kind that never reuses ids. */
  create(kind: EntryKind, id: string, value: Json): Promise<Entry | undefined>
  /** Returns the changed entry; `undefined` if it has another version, or was removed. */
  replace(kind: EntryKind, id: string, version: string, value: Json): Promise<Entry | undefined>
  /** Returns when the last entry with this id was removed, in epoch seconds; `undefined` if one exists, or none did. */
  removedAt(kind: EntryKind, id: string): Promise<number | undefined>
  /** Returns whether this call removed it: not if it has another version, or was removed. */
  remove(kind: EntryKind, id: string, version: string): Promise<boolean>
  /**
   * Uses up an id of a kind that never reuses ids: a creation that is in flight fails. Returns whether no entry has it, or
   * can ever have it.
   */
  retire(kind: EntryKind, id: string): Promise<boolean>
  /**
   * Returns entries with ids after `after`. An entry that exists the whole time is in exactly one page. A page can have
   * fewer entries than `limit`, or none, although another one follows.
   */
  list(
    kind: EntryKind,
    page: { readonly after?: string | undefined; readonly limit: number; readonly prefix?: string | undefined },
  ): Promise<EntryPage>
  /**
   * Returns a text that changes with each change of an entry of this kind. For kinds that no process remembers, it
   * does not change.
   */
  revision(kind: EntryKind): Promise<string>
  /** Reads an entry and the revision of its kind in one trip. */
  getWithRevision(
    kind: EntryKind,
    id: string,
  ): Promise<{ readonly entry: Entry | undefined; readonly revision: string }>
}

/** Seconds after which an operation of the storage fails. */
const defaultTimeLimit = 5

const maxPage = 1000
/** Characters of the JSON of an entry. */
const maxSize = 65_536

/** Returns why an entry cannot have this id and value; `undefined` if it can. */
export function entryProblem(id: string, value: Json): string | undefined {
  if (!isEntryId(id))
    return `the id ${JSON.stringify(id)} must be 1 to 100 printable ASCII characters, most of them letters and digits`
  if (JSON.stringify(value).length > maxSize)
    return `the entry ${id} takes more than ${maxSize} characters; store less in it`
  return undefined
}

/** @throws TypeError when an entry cannot have this id and value. */
function assertArguments(id: string, value: Json): void {
  const problem = entryProblem(id, value)
  if (problem !== undefined) throw new TypeError(problem)
}

/** The operation of a driver that only entries need. */
function keyListing(driver: AtomicDriver) {
  const { listKeys } = driver
  if (listKeys === undefined) {
    throw new TypeError(
      `storage: the driver ${driver.name ?? 'without a name'} has no listKeys(), which entries need; use another storage`,
    )
  }
  return listKeys.bind(driver) as NonNullable<typeof listKeys>
}

/** Reads and writes the stored text of entries. */
function createTexts(driver: AtomicDriver, keys: EntryKeys, runtime: Runtime, timeLimit: number) {
  const calls = createDriverCalls(driver, { runtime, timeLimit })
  const listKeys = keyListing(driver)
  const encode = (stored: StoredEntry, ttl: number): string =>
    encodeEnvelope({ expiresAt: runtime.now() + ttl, value: stored })
  const newVersion = (): string => randomId(runtime, 12)

  async function changed(kind: EntryKind): Promise<void> {
    const expiresAt = runtime.now() + revisionLifetime
    await calls.setItem(calls.itemOf({ key: keys.revisionOf(kind), value: newVersion(), expiresAt }))
  }

  /** Writes an entry over `from`, or where there is none. Returns its version if this call wrote it. */
  async function write(
    kind: EntryKind,
    key: string,
    from: unknown,
    value: Json | undefined,
  ): Promise<string | undefined> {
    const ttl = lifetimeOf(kind, value === undefined)
    const version = newVersion()
    const to = encode({ version, ...(value === undefined ? { removedAt: runtime.now() } : { value }) }, ttl)
    const isWritten =
      typeof from === 'string'
        ? await calls.write(() => driver.replaceItem(key, { from, to, ttl }))
        : await calls.write(() => driver.insertItem(key, to, { ttl }))
    if (isWritten !== true) return undefined
    if (entryKinds[kind].isRemembered) await changed(kind)
    return version
  }

  return { calls, listKeys, write }
}

/**
 * Opens the entries of an issuer, which every provider with this issuer and this storage shares.
 *
 * @param options.storage an open driver
 * @param options.timeLimit seconds after which an operation of the storage fails. Default: 5.
 * @throws TypeError when the driver cannot keep entries
 */
export function openEntries(options: {
  readonly issuer: string
  readonly storage: AtomicDriver
  readonly timeLimit?: number | undefined
  readonly runtime?: Runtime | undefined
}): EntryStore {
  const { issuer, storage, timeLimit = defaultTimeLimit, runtime = webRuntime } = options
  const keys = entryKeys(issuer, runtime)
  const { calls, listKeys, write } = createTexts(storage, keys, runtime, timeLimit)

  const entryOf = (id: string, stored: StoredEntry | undefined): Entry | undefined =>
    isPresent(stored) ? { id, version: stored.version, value: stored.value } : undefined

  async function change(kind: EntryKind, id: string, version: string, value: Json | undefined) {
    const key = keys.of(kind, id)
    const text = await calls.read(key)
    const stored = parseStored(key, text)
    return isPresent(stored) && stored.version === version ? write(kind, key, text, value) : undefined
  }

  return {
    async get(kind, id) {
      if (!isEntryId(id)) return undefined
      const key = keys.of(kind, id)
      return entryOf(id, parseStored(key, await calls.read(key)))
    },
    async getAll(kind, ids) {
      const keyed = ids.filter(isEntryId).map((id) => ({ id, key: keys.of(kind, id) }))
      const texts = await calls.readAll(keyed.map(({ key }) => key))
      const byId = new Map(keyed.map(({ id, key }, index) => [id, entryOf(id, parseStored(key, texts[index]))]))
      return ids.map((id) => byId.get(id))
    },
    async getWithRevision(kind, id) {
      const key = keys.of(kind, id)
      const of = keys.revisionOf(kind)
      const [revision, text] = await calls.readAll(isEntryId(id) ? [of, key] : [of])
      return { entry: entryOf(id, parseStored(key, text)), revision: String(revision ?? '') }
    },
    async create(kind, id, value) {
      assertArguments(id, value)
      const key = keys.of(kind, id)
      const text = await calls.read(key)
      const stored = parseStored(key, text)
      if (isPresent(stored) || (stored !== undefined && !reusesIds(kind))) return undefined
      const version = await write(kind, key, text, value)
      return version === undefined ? undefined : { id, version, value }
    },
    async replace(kind, id, version, value) {
      assertArguments(id, value)
      const written = await change(kind, id, version, value)
      return written === undefined ? undefined : { id, version: written, value }
    },
    async removedAt(kind, id) {
      if (!isEntryId(id)) return undefined
      const key = keys.of(kind, id)
      return parseStored(key, await calls.read(key))?.removedAt
    },
    remove: async (kind, id, version) => isEntryId(id) && (await change(kind, id, version, undefined)) !== undefined,
    async retire(kind, id) {
      assertArguments(id, null)
      if (reusesIds(kind)) throw new TypeError(`Entries of the kind ${kind} reuse their ids`)
      const key = keys.of(kind, id)
      const stored = parseStored(key, await calls.read(key))
      return stored === undefined ? (await write(kind, key, undefined, undefined)) !== undefined : !isPresent(stored)
    },
    async list(kind, { after, limit, prefix }) {
      if (!(Number.isInteger(limit) && limit >= 1 && limit <= maxPage)) {
        throw new TypeError(`The limit of a page is ${limit}; give 1 to ${maxPage}`)
      }
      const base = keys.baseOf(kind, prefix)
      const start = after === undefined ? '' : keys.of(kind, after)
      const page = await calls.run(() => listKeys(base, { after: start, limit }))
      const texts = await calls.readAll(page)
      const entries = page.flatMap((key, index) => entryOf(keys.idOf(kind, key), parseStored(key, texts[index])) ?? [])
      const last = page.length === limit ? page.at(-1) : undefined
      return { entries, ...(last !== undefined && { next: keys.idOf(kind, last) }) }
    },
    revision: async (kind) => String((await calls.read(keys.revisionOf(kind))) ?? ''),
  }
}
