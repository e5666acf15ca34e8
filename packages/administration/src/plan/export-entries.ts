import { inOrder, type Members } from '../differences.ts'
import { pagesOf } from '../manage-entries.ts'
import type { Managed } from '../managed-entry.ts'
import type { Managers } from '../managers.ts'
import { refused } from '../refusal.ts'
import { type PlannedKind, plannedKinds } from './planned-kind.ts'

export interface ExportOptions {
  /** Whether hashes of secrets and passwords are exported. */
  readonly withHashes: boolean
}

/** Returns an entry as a file declares it. */
function declaredForm(kind: PlannedKind, { id, value, tags }: Managed<Members>, withHashes: boolean): Members {
  const {
    type,
    plan: { hashes },
  } = kind
  const isLeftOut = (name: string): boolean => name === type.idMember || (!withHashes && hashes.includes(name))
  const members = Object.fromEntries(Object.entries(value).filter(([name]) => !isLeftOut(name)))
  const labels = tags.length > 0 && { tags: [...tags] }
  return { [type.idMember]: id, ...(inOrder(members) as Members), ...labels }
}

/** A page of entries of one list. */
export interface ExportedPage {
  readonly list: PlannedKind['list']
  readonly entries: readonly Members[]
}

/**
 * Reads all entries page by page, as a file declares them: a plan of it changes nothing.
 *
 * @throws RefusedError for an entry that a newer version, or another program, has written.
 */
export async function* exportedPages(managers: Managers, { withHashes }: ExportOptions): AsyncGenerator<ExportedPage> {
  for (const kind of plannedKinds) {
    for await (const { entries, unreadable } of pagesOf(kind.managerOf(managers).page)) {
      const [unknown] = unreadable
      if (unknown !== undefined) {
        const message = `the stored ${kind.type.noun} ${unknown} has an unknown form; a newer version may have written it`
        throw refused('unreadable', message)
      }
      yield { list: kind.list, entries: entries.map((entry) => declaredForm(kind, entry, withHashes)) }
    }
  }
}
