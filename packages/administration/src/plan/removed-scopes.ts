import type { Managers } from '../managers.ts'
import { pagesOf } from '../pages.ts'
import { refused } from '../refusal.ts'

/**
 * Refuses to remove scopes that clients in the storage have, before anything is removed. For files without clients: those
 * of other files are checked together.
 *
 * @throws RefusedError `in_use`
 */
export async function assertScopesUnused(removed: readonly string[], { clients }: Managers): Promise<void> {
  if (removed.length === 0) return
  const names = new Set(removed)
  for await (const page of pagesOf(clients.page)) {
    for (const { id, value } of page.entries) {
      const scope = value.scopes?.find((each) => names.has(each))
      if (scope === undefined) continue
      const message = `the scope ${scope} cannot be removed: the client ${id} has it; change the client first, or keep the scope`
      throw refused('in_use', message)
    }
  }
}
