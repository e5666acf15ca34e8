import type { Reply } from '@grantry/core'
import type { Members } from '../differences.ts'
import type { EntryType } from '../entry-type.ts'
import type { Managed } from '../managed-entry.ts'
import { shownEntry } from '../shown-entry.ts'
import { etagOf } from './version.ts'

/** Returns the member `warnings` of the response to a change: why the entry can do nothing. */
export function warningsOf<T extends object>({ gaps }: EntryType<T>, { value }: Managed<T>): Members {
  const warnings = gaps?.(value) ?? []
  return warnings.length === 0 ? {} : { warnings }
}

/** Returns the response with an entry, and its version. */
export function entryReply<T extends object>(type: EntryType<T>, managed: Managed<T>, once: Members = {}): Reply {
  const json = { ...shownEntry(type, managed), ...once } as Reply['json']
  return { json, headers: { etag: etagOf(managed.version) } }
}
