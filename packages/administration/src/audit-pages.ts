import type { EntryStore } from '@grantry/core'
import { type AuditRecord, orderLength, orderOf } from './audit.ts'
import { kinds } from './kinds/kinds.ts'

type AuditKind = keyof typeof kinds | 'key'

/** The kinds of entries, and keys. The names of actions begin with them. */
export const auditKinds: readonly AuditKind[] = [...(Object.keys(kinds) as (keyof typeof kinds)[]), 'key']

/** The filter for a page of the audit trail. */
export interface AuditFilter {
  readonly kind?: AuditKind | undefined
  /** The id of the client, scope, user or key. */
  readonly id?: string | undefined
  readonly who?: string | undefined
  /** The oldest and the newest time, in milliseconds since the epoch. */
  readonly since?: number | undefined
  readonly until?: number | undefined
}

export interface AuditRequest extends AuditFilter {
  /** The position after which the page starts. */
  readonly after?: string | undefined
  /** Maximum number of records: 1 to 1,000. */
  readonly limit: number
}

/** A page of the audit trail, the newest first. */
export interface AuditPage {
  readonly records: readonly AuditRecord[]
  /**
   * The position after which the next page starts; absent on the last page. A page with a filter can be empty although
   * another one follows.
   */
  readonly next?: string | undefined
}

/** Records that are read for a page with a filter, and for each trip. */
const maxReads = 1000
const readsOfTrip = 200

function later(left: string | undefined, right: string | undefined): string | undefined {
  if (left === undefined || right === undefined) return left ?? right
  return left > right ? left : right
}

const matches = ({ action, id, who }: AuditRecord, filter: AuditFilter): boolean =>
  (filter.kind === undefined || action.startsWith(filter.kind)) &&
  (filter.id === undefined || id === filter.id) &&
  (filter.who === undefined || who === filter.who)

/**
 * Returns a page of the audit trail. A time range is read alone, because ids are in the order of time. Other filters read
 * at most 1,000 records for a page.
 */
export async function auditPage(entries: Pick<EntryStore, 'list'>, request: AuditRequest): Promise<AuditPage> {
  const { limit, kind, id, who, since, until } = request
  const isFiltered = kind !== undefined || id !== undefined || who !== undefined
  const records: AuditRecord[] = []
  let after = later(request.after, until === undefined ? undefined : orderOf(until))
  let reads = 0
  do {
    const page = await entries.list('audit', { after, limit: isFiltered ? readsOfTrip : limit })
    for (const [index, entry] of page.entries.entries()) {
      if (since !== undefined && entry.id.slice(0, orderLength) > orderOf(since)) return { records }
      const record = entry.value as unknown as AuditRecord
      if (matches(record, request)) records.push(record)
      const isLast = index === page.entries.length - 1 && page.next === undefined
      if (records.length === limit && !isLast) return { records, next: entry.id }
    }
    reads += readsOfTrip
    after = page.next
  } while (isFiltered && after !== undefined && reads < maxReads)
  return { records, ...(after !== undefined && { next: after }) }
}
