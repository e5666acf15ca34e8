import type { Entry, EntryKind, EntryStore } from '@grantry/core'

interface Remembered<T> {
  readonly version: string
  readonly value: T
  /** Epoch seconds. */
  readonly readAt: number
}

export interface EntryCacheOptions<T> {
  readonly entries: Pick<EntryStore, 'getWithRevision'>
  readonly kind: EntryKind
  /** Seconds for which an entry is used without reading it again. */
  readonly cacheFor: number
  /** @throws when a newer version has written the entry: it could be disabled. */
  readonly parse: (entry: Entry) => T
}

/** Entries of one kind that a process remembers. */
export interface EntryCache<T> {
  /**
   * Returns the value of an entry: the same object as long as it is the same.
   *
   * @param now epoch seconds
   */
  find(id: string, now: number): T | undefined | Promise<T | undefined>
}

/**
 * Seconds after which an entry is read again in any case: a command that was killed can have changed it without a new
 * revision.
 */
const longestUse = 60

/** Maximum number of entries that a process remembers. */
const maxRemembered = 10_000

/**
 * Remembers entries until one of their kind changes: a read of any of them, or of an unknown one, shows whether that has
 * happened. An unknown id is not remembered, so that a new entry works immediately.
 */
export function createEntryCache<T>({ entries, kind, cacheFor, parse }: EntryCacheOptions<T>): EntryCache<T> {
  const remembered = new Map<string, Remembered<T>>()
  /** The ids of entries that were current at `checkedAt`. */
  let current = new Set<string>()
  let revision: string | undefined
  let checkedAt = Number.NEGATIVE_INFINITY

  function keep(id: string, found: Remembered<T> | undefined): void {
    remembered.delete(id)
    current.delete(id)
    if (found === undefined) return
    remembered.set(id, found)
    if (remembered.size <= maxRemembered) return
    const [oldest = ''] = remembered.keys()
    remembered.delete(oldest)
    current.delete(oldest)
  }

  async function read(id: string, now: number): Promise<T | undefined> {
    const known = revision
    const { revision: seen, entry } = await entries.getWithRevision(kind, id)
    const before = remembered.get(id)
    const value = before !== undefined && before.version === entry?.version ? before.value : entry && parse(entry)
    keep(id, entry && value !== undefined ? { version: entry.version, value, readAt: now } : undefined)
    if (revision !== known) return value
    if (seen === known) {
      checkedAt = now
      if (value !== undefined) current.add(id)
    } else {
      // The entry may have been read before the change that the revision shows: no later read of another one confirms it.
      revision = seen
      current = new Set()
      checkedAt = Number.NEGATIVE_INFINITY
    }
    return value
  }

  return {
    find(id, now) {
      const known = remembered.get(id)
      if (known === undefined) return read(id, now)
      const age = Math.abs(now - known.readAt)
      const isConfirmed = current.has(id) && Math.abs(now - checkedAt) < cacheFor && age < longestUse
      return age < cacheFor || isConfirmed ? known.value : read(id, now)
    },
  }
}
