import type { ClientOptions, EntryKind, EntryStore, Json, Runtime } from '@grantry/core'
import { managedIn } from '../managed-entry.ts'
import { clientType } from './client-type.ts'
import { createOrigins, originsOf } from './origins.ts'

type Changes = Pick<EntryStore, 'create' | 'replace' | 'remove'>

const clientIn = (id: string, value: Json | undefined): ClientOptions | undefined =>
  value === undefined ? undefined : managedIn(clientType, { id, version: '', value })?.value

function clientChanges(entries: EntryStore, runtime: Pick<Runtime, 'sha256Hex'>): Changes {
  const { allow, find, withdraw } = createOrigins(entries, runtime)

  /** Changes a client from one value to another, with its origins. */
  async function change<T>(
    id: string,
    [before, after]: readonly [before: Json | undefined, after: Json | undefined],
    write: () => Promise<T>,
    isWritten: (result: T) => boolean,
  ): Promise<T> {
    const kept = originsOf(clientIn(id, after))
    for (const origin of kept) await allow(origin, id)
    const dropped = originsOf(clientIn(id, before)).filter((origin) => !kept.includes(origin))
    const allowances = await Promise.all(dropped.map(find))
    const result = await write()
    if (isWritten(result)) {
      for (const allowance of allowances) if (allowance !== undefined) await withdraw(allowance, id)
    }
    return result
  }

  const isEntry = (entry: unknown): boolean => entry !== undefined

  return {
    create: (kind, id, value) => change(id, [undefined, value], () => entries.create(kind, id, value), isEntry),
    async replace(kind, id, version, value) {
      const present = await entries.get(kind, id)
      const write = () => entries.replace(kind, id, version, value)
      return present?.version === version ? change(id, [present.value, value], write, isEntry) : undefined
    },
    async remove(kind, id, version) {
      const present = await entries.get(kind, id)
      return change(id, [present?.value, undefined], () => entries.remove(kind, id, version), Boolean)
    },
  }
}

/**
 * Returns entries in which each change of a client keeps the origins of browsers that it allows: new ones are written
 * before, old ones removed afterwards. A process can be killed after each write. What it leaves is an origin whose pages
 * can read responses, but that no client allows: it gets no token by that.
 */
export function clientEntries(entries: EntryStore, runtime: Pick<Runtime, 'sha256Hex'>): EntryStore {
  const clients = clientChanges(entries, runtime)
  const of = (kind: EntryKind): Changes => (kind === 'client' ? clients : entries)
  return {
    ...entries,
    create: (kind, id, value) => of(kind).create(kind, id, value),
    replace: (kind, id, version, value) => of(kind).replace(kind, id, version, value),
    remove: (kind, id, version) => of(kind).remove(kind, id, version),
  }
}
