import type { EntryStore, ScopeOptions } from '@grantry/core'
import { kinds } from '../kinds/kinds.ts'
import { readEntry } from '../managed-entry.ts'
import { maxScopes } from '../scopes/manage-scopes.ts'

/** The scopes in the storage. */
export interface StoredScopes {
  /**
   * Returns the current scopes; the same array until one changes. Reads the revision, and the list if the revision has
   * changed.
   *
   * @throws when the storage fails, or a newer version has written a scope
   */
  list(): Promise<readonly ScopeOptions[]>
  /** Whether `list` would return this array. Reads the revision. */
  isCurrent(listed: readonly ScopeOptions[]): Promise<boolean>
}

/**
 * Milliseconds after which the list is read again in any case: a command that was killed can have changed it without a new
 * revision.
 */
const longestUse = 60_000

/** Two commands that add a scope at the same time can exceed the maximum by one. */
const maxRead = maxScopes + 100

/** @param now milliseconds since the epoch */
export function storedScopes(
  entries: Pick<EntryStore, 'list' | 'revision'>,
  now: () => number = Date.now,
): StoredScopes {
  let scopes: readonly ScopeOptions[] = []
  let versions = ''
  let known: string | undefined
  let readAt = Number.NEGATIVE_INFINITY

  async function read(): Promise<void> {
    const options: ScopeOptions[] = []
    const ids: string[] = []
    let after: string | undefined
    do {
      const page = await entries.list('scope', { after, limit: maxScopes })
      for (const entry of page.entries) {
        options.push(readEntry(kinds.scope.type, entry).value)
        ids.push(entry.version)
      }
      after = page.next
      if (options.length > maxRead) throw new Error(`there are more than ${maxRead} scopes in the storage`)
    } while (after !== undefined)
    const present = ids.join(' ')
    if (present !== versions || known === undefined) scopes = options
    versions = present
  }

  return {
    async list() {
      // Read before the list: a change in between has another revision, which the next call sees.
      const revision = await entries.revision('scope')
      if (revision !== known || Math.abs(now() - readAt) >= longestUse) {
        await read()
        known = revision
        readAt = now()
      }
      return scopes
    },
    isCurrent: async (listed) => (await entries.revision('scope')) === known && listed === scopes,
  }
}
