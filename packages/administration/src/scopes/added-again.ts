import type { EntryStore, ScopeOptions } from '@grantry/core'
import { refused } from '../refusal.ts'
import { assertNotStored } from './clients-with-scope.ts'

/**
 * Seconds after a removal in which servers can still issue tokens with the scope: they read the scopes again within a
 * minute, and their clocks can differ.
 */
const settling = 120

const shownTime = (seconds: number): string => new Date(seconds * 1000).toISOString()

/**
 * Returns a scope as it is added. If there was one with the same name, what was granted with that one does not have the
 * new one: its name can be that of another API.
 *
 * @throws RefusedError `in_use` while servers or clients can still have the removed one.
 */
export async function againAdded(
  scope: ScopeOptions,
  { entries, now }: { readonly entries: EntryStore; readonly now: () => number },
): Promise<ScopeOptions> {
  const { name } = scope
  const removedAt = await entries.removedAt('scope', name)
  if (removedAt === undefined) return scope
  if (now() / 1000 < removedAt + settling) {
    const message = `the scope ${name} was removed at ${shownTime(removedAt)}, and servers could still issue tokens with it; add it again after ${shownTime(removedAt + settling)}, or use another name`
    throw refused('in_use', message, { member: 'name' })
  }
  await assertNotStored(
    name,
    entries,
    (clients) =>
      `clients have the scope ${name}, which was removed (${clients}), and would get the new one; remove it from them first, or use another name`,
  )
  // The middle: clocks can differ by a part of this time in both directions.
  return { ...scope, grantedSince: Math.max(scope.grantedSince ?? 0, removedAt + settling * 0.75) }
}
