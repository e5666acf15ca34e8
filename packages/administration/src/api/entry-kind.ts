import type { Reply } from '@grantry/core'
import type { Members } from '../differences.ts'
import type { EntryType } from '../entry-type.ts'
import type { EntryManager } from '../manage-entries.ts'
import type { Managed } from '../managed-entry.ts'
import type { Managers } from '../open-administration.ts'
import { shownEntry } from '../shown-entry.ts'
import type { DescribedMembers, Operation } from './operation.ts'
import { etagOf } from './version.ts'

/** What the operations of one kind of entries need. */
export interface EntryKindApi<T extends object> {
  readonly type: EntryType<T>
  /** The segment of the path, such as `clients`. */
  readonly segment: string
  /** What operation ids and summaries call one: `Client`. */
  readonly title: string
  /** Members that are set in another way, with how. */
  readonly readOnly: Readonly<Record<string, string>>
  /** Members that only an addition can set, with how they change. */
  readonly notInChanges?: Readonly<Record<string, string>> | undefined
  /** Whether an addition without an id gets one. */
  readonly hasOwnId?: boolean | undefined
  /** Describes the members. */
  readonly members: Pick<DescribedMembers, 'schemaOf' | 'texts'>
  readonly protects?: Operation['protects']
  readonly managerOf: (managers: Managers) => Pick<EntryManager<T>, 'show' | 'page' | 'replace' | 'remove'>
  /** Removes an entry that others need, with `?force=true`. Absent: no entry needs one of this kind. */
  readonly forceRemoval?: ((managers: Managers, id: string, version: string | undefined) => Promise<void>) | undefined
  /** Adds an entry, and returns it with what is shown once. */
  readonly add: (
    managers: Managers,
    value: T,
    tags: readonly string[],
  ) => Promise<{ entry: Managed<T>; once?: Members }>
}

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
