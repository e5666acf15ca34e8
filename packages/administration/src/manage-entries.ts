import type { Administrator } from './audit.ts'
import { changed, type Members } from './differences.ts'
import { createPages, type ManagedPage, type PageRequest } from './entry-pages.ts'
import type { EntryType } from './entry-type.ts'
import { createWrites, type ManageDeps } from './entry-writes.ts'
import { type Managed, readEntry } from './managed-entry.ts'
import { createRemovedSecrets } from './removed-secrets.ts'

export interface EditOptions {
  /** The version that the administrator has seen. Default: the present one. */
  readonly version?: string | undefined
  /** The new labels. Default: the present ones. */
  readonly tags?: readonly string[] | undefined
}

export interface ReplaceOptions extends EditOptions {
  /** For the audit trail, such as `client_changed`. */
  readonly action?: string | undefined
  /** Whether the change ends what was issued, whatever it changes. Default: as its members demand. */
  readonly endsTokens?: boolean | undefined
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
    const { version, tags, action = `${kind}_changed`, endsTokens = false } = options
    const current = readEntry(type, await writes.existing(id, version))
    const next = { ...current, value: change(current.value), tags: tags ?? current.tags, changedAt: timestamp() }
    return writes.replace(current, next, { action, endsTokens })
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
