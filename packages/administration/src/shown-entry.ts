import type { Members } from './differences.ts'
import type { EntryType } from './entry-type.ts'
import type { Managed } from './managed-entry.ts'

/** Returns an entry as it is shown: its id, its members without secrets, then its labels, version and times. */
export function shownEntry<T extends object>(type: EntryType<T>, managed: Managed<T>): Members {
  const { id, value, tags, version, createdAt, changedAt } = managed
  const members = Object.entries(value).map(([member, content]) => [member, type.shown(member, content)])
  return { [type.idMember]: id, ...Object.fromEntries(members), tags, version, createdAt, changedAt }
}
