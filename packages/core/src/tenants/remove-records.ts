import { type EntryKind, entryKeys, entryKinds } from '../entries/entry-key.ts'
import type { AtomicDriver } from '../records/driver.ts'
import { keyOf } from '../records/keys.ts'
import { webRuntime } from '../runtime.ts'

/** Where the next call continues. */
export interface RemovalPosition {
  readonly kind: number
  readonly after: string
}

const kinds = Object.keys(entryKinds) as readonly EntryKind[]

/** Generations of a key ring that one call removes: decades of rotations. */
const maxGenerations = 1000

/** Removes the signing keys. Generations have consecutive numbers. */
async function removeKeys(storage: AtomicDriver, issuer: string): Promise<void> {
  const keyFor = (what: number | 'newest'): string => keyOf('keys', webRuntime.sha256Hex(`${issuer}\n${what}`))
  for (let number = 1; number <= maxGenerations; number += 1) {
    const stored = await storage.getItem(keyFor(number))
    if (stored === null || stored === undefined) break
    await storage.removeItem(keyFor(number), {})
  }
  await storage.removeItem(keyFor('newest'), {})
}

/**
 * Removes the entries of a tenant that has ended, such as clients and users, and its signing keys. `keysInSpace()` finds its
 * other records: nothing reads them any more, but some have personal data for years.
 *
 * @param options.storage the part of the storage of the tenant
 * @param options.limit entries that one call removes
 * @returns where the next call continues; `undefined` when everything is removed
 */
export async function removeTenantRecords(options: {
  readonly issuer: string
  readonly storage: AtomicDriver
  readonly limit: number
  readonly from?: RemovalPosition | undefined
}): Promise<RemovalPosition | undefined> {
  const { issuer, storage, limit, from = { kind: 0, after: '' } } = options
  const kind = kinds[from.kind]
  if (kind === undefined || storage.listKeys === undefined) {
    await removeKeys(storage, issuer)
    return undefined
  }
  const keys = entryKeys(issuer, webRuntime)
  const listedKeys = await storage.listKeys(keys.baseOf(kind), { after: from.after, limit })
  await Promise.all(listedKeys.map(async (key) => storage.removeItem(key, {})))
  const last = listedKeys.length === limit ? listedKeys.at(-1) : undefined
  if (last !== undefined) return { kind: from.kind, after: last }
  await storage.removeItem(keys.revisionOf(kind), {})
  return { kind: from.kind + 1, after: '' }
}
