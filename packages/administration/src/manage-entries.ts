import type { EntryStore } from '@grantry/core'
import type { Administrator } from './audit.ts'
import { changed, type Members } from './differences.ts'
import type { EntryType } from './entry-type.ts'
import { createWrites, type ManageDeps } from './entry-writes.ts'
import { createRemovedSecrets } from './former-secrets.ts'
import { type Managed, managedIn, readEntry } from './managed-entry.ts'

export interface PageRequest {
  /** The id after which the page starts. */
  readonly after?: string | undefined
  /** Maximum number of entries: 1 to 1,000. */
  readonly limit: number
  /** Only entries whose ids start with it. */
  readonly prefix?: string | undefined
  /** Only entries with this label. */
  readonly tag?: string | undefined
  /** Only entries that are enabled, or that are not. */
  readonly enabled?: boolean | undefined
}

/** A page of a list, in the order of the ids. */
export interface ManagedPage<T extends object> {
  readonly entries: readonly Managed<T>[]
  /** Ids of entries that a newer version, or another program, has written. */
  readonly unreadable: readonly string[]
  /** The id after which the next page starts; absent on the last page. A page can be empty although another one follows. */
  readonly next?: string | undefined
}

/** Entries that are read for a page: with a filter, or after removals, few of them may be in it. */
const maxReads = 1000
/** Entries of a trip to the storage that may find few: a page of one must not need a thousand trips. */
export const readsOfTrip = 200

/** Returns a function that reads a page of entries of a kind. */
export function createPages<T extends object>(
  type: EntryType<T>,
  entries: Pick<EntryStore, 'list'>,
): (request: PageRequest) => Promise<ManagedPage<T>> {
  const matches = ({ value, tags }: Managed<T>, { tag, enabled }: PageRequest): boolean =>
    (tag === undefined || tags.includes(tag)) && (enabled === undefined || type.isEnabled(value) === enabled)

  return async (request) => {
    const { limit, prefix, tag, enabled } = request
    const isFiltered = tag !== undefined || enabled !== undefined
    const matching: Managed<T>[] = []
    const unreadable: string[] = []
    let after = request.after
    let reads = 0
    do {
      const trip = reads === 0 && !isFiltered ? limit : Math.max(limit, readsOfTrip)
      const page = await entries.list(type.kind, { after, limit: trip, prefix })
      for (const [index, entry] of page.entries.entries()) {
        const managed = managedIn(type, entry)
        if (managed === undefined) unreadable.push(entry.id)
        else if (matches(managed, request)) matching.push(managed)
        const isLast = index === page.entries.length - 1 && page.next === undefined
        const isFull = matching.length + unreadable.length === limit
        if (isFull) return { entries: matching, unreadable, ...(!isLast && { next: entry.id }) }
      }
      reads += trip
      after = page.next
    } while (after !== undefined && reads < maxReads)
    return { entries: matching, unreadable, ...(after !== undefined && { next: after }) }
  }
}

/** Reads a list page after page. */
export async function* pagesOf<T extends object>(
  page: (request: PageRequest) => Promise<ManagedPage<T>>,
  filter: Omit<PageRequest, 'after' | 'limit'> = {},
): AsyncGenerator<ManagedPage<T>> {
  let after: string | undefined
  do {
    const read: ManagedPage<T> = await page({ ...filter, after, limit: 200 })
    yield read
    after = read.next
  } while (after !== undefined)
}

export interface EditOptions {
  /** The version that the administrator has seen. Default: the present one. */
  readonly version?: string | undefined
  /** The new labels. Default: the present ones. */
  readonly tags?: readonly string[] | undefined
}

interface ReplaceOptions extends EditOptions {
  /** For the audit trail, such as `client_changed`. */
  readonly action?: string | undefined
  /** Whether the change always ends what was issued. Default: depends on the changed members. */
  readonly endsTokens?: boolean | undefined
  /**
   * Whether the change is still allowed. Called directly before the write; unless it is `true`, nothing changes. If the change
   * ends what was issued, this function does so, and is called after the write, too: unless it is `true` then, the change is
   * undone.
   */
  readonly isStillAllowed?: (() => Promise<boolean>) | undefined
}

/** Reads and changes entries of one kind. Each method rejects with a RefusedError when it refuses. */
export interface EntryManager<T extends object> {
  has(id: string): Promise<boolean>
  show(id: string): Promise<Managed<T>>
  /** Returns the names of secrets that a removed entry with this id had before. A new one cannot have them. */
  formerSecrets(id: string): Promise<readonly string[]>
  page(request: PageRequest): Promise<ManagedPage<T>>
  add(value: T, tags?: readonly string[]): Promise<Managed<T>>
  /** Changes members: `undefined` and `null` remove one. An entry that is disabled by it loses its tokens. */
  edit(id: string, change: Members, options?: EditOptions): Promise<Managed<T>>
  /** Changes an entry by a function of its present value. */
  replace(id: string, change: (value: T) => T, options?: ReplaceOptions): Promise<Managed<T>>
  remove(id: string, options?: Pick<EditOptions, 'version'>): Promise<void>
}

/** Manages entries of a kind in the name of an administrator. */
export function manageEntries<T extends object>(
  type: EntryType<T>,
  deps: ManageDeps<T>,
  by: Administrator,
): EntryManager<T> {
  const { kind, idMember } = type
  const { entries, now } = deps
  const writes = createWrites(type, deps, by)
  const timestamp = (): string => new Date(now()).toISOString()

  const replace: EntryManager<T>['replace'] = async (id, change, options = {}) => {
    const { version, tags, action = `${kind}_changed`, endsTokens = false, isStillAllowed } = options
    const current = readEntry(type, await writes.existing(id, version))
    const next = { ...current, value: change(current.value), tags: tags ?? current.tags, changedAt: timestamp() }
    return writes.replace(current, next, { action, endsTokens, isStillAllowed })
  }

  return {
    has: async (id) => (await entries.get(kind, id)) !== undefined,
    show: async (id) => readEntry(type, await writes.existing(id, undefined)),
    formerSecrets: createRemovedSecrets(type, entries).find,
    page: createPages(type, entries),
    replace,
    edit(id, change, options) {
      const { endingMember } = type
      const endsTokens = endingMember !== undefined && (change[endingMember] ?? undefined) !== undefined
      return replace(id, (value) => changed(value, { [idMember]: id, ...change }), { ...options, endsTokens })
    },
    async add(value, tags = []) {
      const time = timestamp()
      return writes.create({ value, tags, createdAt: time, changedAt: time })
    },
    remove: async (id, { version } = {}) => writes.remove(await writes.existing(id, version)),
  }
}
