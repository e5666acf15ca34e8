import type { EntryStore, Json } from '@grantry/core'
import type { EntryType } from './entry-type.ts'
import { maxFormer } from './former-secrets.ts'
import { refused } from './refusal.ts'

/** The secrets that were taken away from removed entries: one that is added under the same id does not get them back. */
export interface RemovedSecrets {
  /** Returns their names, the oldest first. */
  find(id: string): Promise<readonly string[]>
  /** Adds names, before an entry is removed. */
  keep(id: string, names: readonly string[] | undefined): Promise<void>
}

function namesIn(value: Json | undefined): readonly string[] {
  const { formerSecrets } = Object(value ?? {}) as { readonly formerSecrets?: unknown }
  return Array.isArray(formerSecrets) ? formerSecrets.filter((name) => typeof name === 'string') : []
}

export function createRemovedSecrets(
  { formerKind: kind, noun }: Pick<EntryType<object>, 'formerKind' | 'noun'>,
  entries: Pick<EntryStore, 'get' | 'create' | 'replace'>,
): RemovedSecrets {
  const read = async (id: string) => (kind === undefined ? undefined : entries.get(kind, id))
  return {
    find: async (id) => namesIn((await read(id))?.value),
    async keep(id, names = []) {
      if (kind === undefined || names.length === 0) return
      const entry = await read(id)
      const value = { formerSecrets: [...new Set([...namesIn(entry?.value), ...names])].slice(-maxFormer) }
      const kept =
        entry === undefined
          ? await entries.create(kind, id, value)
          : await entries.replace(kind, id, entry.version, value)
      if (kept === undefined) throw refused('outdated', `the ${noun} ${id} is being removed by another call; try again`)
    },
  }
}
