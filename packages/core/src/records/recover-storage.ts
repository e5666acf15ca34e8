import type { MaybePromise } from '../types.ts'
import type { AtomicDriver } from './driver.ts'
import { parseEnvelope } from './envelope.ts'
import { type RecordKind, recordKinds } from './keys.ts'

/** A driver that lists its items, as all of `@grantry/storage-drivers` do. */
export interface RecoverableDriver extends AtomicDriver {
  listItems(): AsyncIterable<readonly { readonly key: string; readonly value: string }[]>
}

export interface RecoverOptions {
  /** A storage that was restored from a copy. No process may use it. Its driver is not disposed of. */
  readonly storage: RecoverableDriver
  /** Whether to count the items only, and remove none. Default: `false`. */
  readonly dryRun?: boolean | undefined
  /** Called after each batch. */
  readonly onProgress?: ((counts: RecoverCounts) => void) | undefined
}

/** The number of items. */
export interface RecoverCounts {
  readonly read: number
  readonly removed: number
}

/** Key of the item that marks a storage whose recovery is not complete. No provider starts with it. */
export const recoveryKey = 'recovery'
/** Seconds. Until then, no provider starts with a storage whose recovery is not complete. */
const markerLifetime = 10 * 365 * 86_400
/** Items in one write: a storage serves no other client during a large one. */
const writeSize = 100

const isRecordKind = (text: string): text is RecordKind => Object.hasOwn(recordKinds, text)

/**
 * Whether an item is kept. An item of a kind that this version does not know is removed, because it could give
 * access.
 */
export function isKeptAfterRestore({ key, value }: { readonly key: string; readonly value: unknown }): boolean {
  const [kind = ''] = key.replace(/^space:[0-9a-f]{32}:/u, '').split(':', 1)
  if (!isRecordKind(kind)) return false
  const fate = recordKinds[kind]
  if (fate !== 'marked') return fate === 'kept'
  // A record that this version cannot read is removed.
  return typeof parseEnvelope(value) !== 'string' && JSON.parse(String(value)).kept === true
}

async function removeAll(storage: AtomicDriver, keys: readonly string[]): Promise<void> {
  for (let start = 0; start < keys.length; start += writeSize) {
    const remove = keys.slice(start, start + writeSize)
    if (storage.commit !== undefined) await storage.commit({ create: [], put: [], remove })
    else await Promise.all(remove.map((key): MaybePromise<void> => storage.removeItem(key, {})))
  }
}

async function performPass(
  { storage, onProgress }: RecoverOptions,
  act: (keys: readonly string[]) => Promise<void>,
): Promise<RecoverCounts> {
  let counts: RecoverCounts = { read: 0, removed: 0 }
  for await (const listed of storage.listItems()) {
    const items = listed.filter(({ key }) => key !== recoveryKey)
    const keys = [...new Set(items.filter((item) => !isKeptAfterRestore(item)).map(({ key }) => key))]
    await act(keys)
    counts = { read: counts.read + items.length, removed: counts.removed + keys.length }
    onProgress?.(counts)
  }
  return counts
}

/**
 * Makes a storage that was restored from an old copy safe to use. Accounts, with their factors, links and consents,
 * clients, scopes, tenants and the audit trail stay. The function removes everything that gives access, or can be
 * used once: the copy does not show what was used or revoked after it was made. The stored signing keys go, too, so
 * that no earlier token is valid.
 *
 * A call that is interrupted can be repeated, and no provider starts before one is complete.
 *
 * @throws Error when the storage is the target of a copy that is not complete, or when another process uses it.
 * @see docs/decisions/0176-what-survives-a-restore.md
 */
export async function recoverStorage(options: RecoverOptions): Promise<RecoverCounts> {
  const { storage, dryRun = false } = options
  await storage.open?.()
  if ((await storage.getItem('copy')) != null)
    throw new Error('the storage is the target of a copy that is not complete; complete that copy first')
  if (dryRun) return performPass(options, async () => undefined)
  await storage.setItem(recoveryKey, '{}', { ttl: markerLifetime })
  const counts = await performPass(options, (keys) => removeAll(storage, keys))
  const left = await performPass({ storage }, async () => undefined)
  if (left.removed > 0) {
    throw new Error(`${left.removed} items were written meanwhile; stop the service, then repeat the recovery`)
  }
  await storage.removeItem(recoveryKey, {})
  return counts
}
