import type { Entry, EntryKind, EntryStore } from '@grantry/core'

interface Remembered<T> {
  readonly version: string
  readonly value: T
  /** Epoch seconds. */
  readonly readAt: number
  /** Characters of its JSON. */
  readonly size: number
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
   * Returns the value of an entry; the same object until the entry changes.
   *
   * @param now epoch seconds
   */
  find(id: string, now: number): T | undefined | Promise<T | undefined>
  /** Reads an entry in any case. */
  read(id: string, now: number): Promise<T | undefined>
  /** Reads an entry again, at most once in a second. */
  renew(id: string, now: number): T | undefined | Promise<T | undefined>
}

/**
 * Seconds after which an entry is read again in any case: a command that was killed can have changed it without a new
 * revision.
 */
const longestUse = 60

/** Maximum number of entries that a process remembers. */
const maxRemembered = 10_000

/**
 * The maximum number of characters of the JSON of all remembered entries. In memory, they take a small multiple of
 * this.
 */
const maxSize = 16_000_000

/** Entries that a process remembers, the one that was read longest ago first, within the limits. */
function createMemory<T>(onForget: (id: string) => void) {
  const remembered = new Map<string, Remembered<T>>()
  let size = 0

  function forget(id: string): void {
    size -= remembered.get(id)?.size ?? 0
    remembered.delete(id)
    onForget(id)
  }

  return {
    get: (id: string) => remembered.get(id),
    forget,
    keep(id: string, entry: Remembered<T>): void {
      forget(id)
      remembered.set(id, entry)
      size += entry.size
      for (const oldest of remembered.keys()) {
        if (remembered.size <= maxRemembered && size <= maxSize) return
        forget(oldest)
      }
    },
  }
}

/**
 * Remembers entries until one of their kind changes: a read of any of them, or of an unknown one, shows whether that has
 * happened. An unknown id is not remembered, so that a new entry works immediately.
 */
export function createEntryCache<T>({ entries, kind, cacheFor, parse }: EntryCacheOptions<T>): EntryCache<T> {
  /** The ids of entries that were current at `checkedAt`. */
  let current = new Set<string>()
  const remembered = createMemory<T>((id) => current.delete(id))
  let revision: string | undefined
  let checkedAt = Number.NEGATIVE_INFINITY

  const renewals = new Set<string>()

  async function read(id: string, now: number): Promise<T | undefined> {
    const known = revision
    const { revision: seen, entry } = await entries.getWithRevision(kind, id)
    const before = remembered.get(id)
    const isSame = before !== undefined && before.version === entry?.version
    const value = isSame ? before.value : entry && parse(entry)
    if (entry === undefined || value === undefined) remembered.forget(id)
    else {
      // Less than a microsecond for the usual entry, only after a read of the storage that found another version.
      const size = isSame ? before.size : JSON.stringify(value).length
      remembered.keep(id, { version: entry.version, value, readAt: now, size })
    }
    if (revision !== known) return value
    if (seen === known) {
      checkedAt = now
      if (value !== undefined) current.add(id)
    } else {
      // The entry may have been read before the change that the revision shows, so no later read of another entry may
      // confirm it.
      revision = seen
      current = new Set()
      checkedAt = Number.NEGATIVE_INFINITY
    }
    return value
  }

  return {
    read,
    find(id, now) {
      const known = remembered.get(id)
      if (known === undefined) return read(id, now)
      const age = Math.abs(now - known.readAt)
      const isConfirmed = current.has(id) && Math.abs(now - checkedAt) < cacheFor && age < longestUse
      return age < cacheFor || isConfirmed ? known.value : read(id, now)
    },
    renew(id, now) {
      const known = remembered.get(id)
      // Of many guesses at the same time, one waits: the others are counted immediately.
      if (known?.readAt === now || renewals.has(id)) return known?.value
      renewals.add(id)
      return read(id, now).finally(() => renewals.delete(id))
    },
  }
}
