import type { Entry, EntryStore } from '@grantry/core'
import { changed, differences, type Members } from './differences.ts'
import type { EntryType } from './entry-type.ts'
import { entryValueOf, type Managed, readEntry, type Stored } from './managed-entry.ts'

/** Each repetition means that another call succeeded. */
const maxTries = 20

/**
 * Takes back a change that is no longer allowed. If the entry was changed since, restores only the members that still
 * have the written values: the other change has copied them, and must not keep them.
 *
 * @param written the entry with the change
 */
export async function takeBack<T extends object>(
  type: EntryType<T>,
  { current, stored, written }: { readonly current: Managed<T>; readonly stored: Stored<T>; readonly written: Entry },
  entries: EntryStore,
): Promise<void> {
  const { kind } = type
  const { id } = current
  if ((await entries.replace(kind, id, written.version, entryValueOf(kind, current))) !== undefined) return
  const before: Members = Object.fromEntries(Object.entries(current.value))
  const wrote = Object.keys({ ...differences(before, stored.value), ...differences(stored.value, before) })
  for (let tries = 0; tries < maxTries; tries += 1) {
    const entry = await entries.get(kind, id)
    if (entry === undefined) return
    const latest = readEntry(type, entry)
    const others = differences(stored.value, latest.value)
    const left = wrote.filter((member) => !(member in others))
    if (left.length === 0) return
    const value = changed(latest.value, Object.fromEntries(left.map((member) => [member, before[member]])))
    if ((await entries.replace(kind, id, entry.version, entryValueOf(kind, { ...latest, value }))) !== undefined) return
  }
  throw new Error(
    `The ${type.noun} ${id} changes all the time, so a change that is no longer allowed could not be taken back`,
  )
}
