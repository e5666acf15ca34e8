import type { ListableDriver } from './copy/listable-driver.ts'
import { type CopyCounts, performPass } from './copy/pass.ts'

export type { ListableDriver, ListedItem } from './copy/listable-driver.ts'
export type { CopyCounts } from './copy/pass.ts'

/**
 * Key of the item that marks a target whose copy is not complete. The core refuses to start with such a storage: the
 * next pass would undo what it has written.
 */
const markerKey = 'copy'
/** Key of an item that shows whether both storages are the same. */
const probeKey = 'copy:probe'
/** Seconds. Until then, no service starts with a target that is not complete. */
const markerLifetime = 10 * 365 * 86_400

export interface CopyOptions {
  /** Storage of the service. Its driver is not disposed of. */
  readonly from: ListableDriver
  /** An empty storage, or one that an earlier call has filled and not completed. Its driver is not disposed of. */
  readonly to: ListableDriver
  /**
   * Whether to complete the copy: verifies it, and refuses to copy into this target again. The service must be stopped.
   */
  readonly final?: boolean | undefined
  /** Whether to count only, and change nothing. */
  readonly dryRun?: boolean | undefined
  /** Called after each batch. `step` is the pass that the counts belong to. */
  readonly onProgress?: ((counts: CopyCounts, step: 'copy' | 'verify') => void) | undefined
}

async function isEmpty(driver: ListableDriver): Promise<boolean> {
  for await (const batch of driver.listItems()) if (batch.length > 0) return false
  return true
}

/**
 * Whether the source has the item that was just written to the target, under any key. Only two storages of one kind can
 * share items, such as two prefixes of Redis, one of which begins with the other.
 */
async function hasValue({ from, to }: CopyOptions, value: string): Promise<boolean> {
  if (from.name !== to.name) return false
  for await (const batch of from.listItems()) if (batch.some((item) => item.value === value)) return true
  return false
}

/** @throws Error when the source or the target is unsuitable. */
async function assertStorages(options: CopyOptions): Promise<void> {
  const { from, to } = options
  if ((await from.getItem(markerKey)) != null && (await to.getItem(markerKey)) == null)
    throw new Error('the source is the target of a copy that is not complete; complete that copy first')
  const attempt = crypto.randomUUID()
  await to.setItem(probeKey, attempt, { ttl: 3600 })
  const probe = await from.getItem(probeKey)
  const isInside = await hasValue(options, attempt)
  await to.removeItem(probeKey, {})
  if (probe === attempt) throw new Error('the source and the target are the same storage')
  if (isInside) throw new Error('the target storage is inside the source; use a prefix that begins differently')
  if ((await to.getItem(markerKey)) == null && !(await isEmpty(to))) {
    throw new Error(
      'the target storage has items: a copy into it is complete, or a service has used it; use an empty one, such as another prefix, file or directory',
    )
  }
}

/**
 * Copies all items to another storage, and removes those from it that the source no longer has. A call that is
 * interrupted can be repeated: equal items are not written again.
 *
 * While a service writes to the source, the copy is only almost complete, and a code that is redeemed meanwhile could
 * be redeemed again in the target. Therefore: copy while the service runs, stop the service, copy once more with
 * `final`, and start the service with the target.
 *
 * @returns the number of items that were read, written and removed
 * @throws Error when the target has items that no unfinished copy has written, when both are one storage, when the
 * source is not complete itself, or when it changes during a `final` copy.
 */
export async function copyItems(options: CopyOptions): Promise<CopyCounts> {
  const { from, to, final = false, dryRun = false, onProgress } = options
  await from.open?.()
  await to.open?.()
  const pass = (step: 'copy' | 'verify', writes: boolean): Promise<CopyCounts> =>
    performPass({
      from,
      to,
      ignored: new Set([markerKey, probeKey]),
      writes,
      onProgress: (counts) => onProgress?.(counts, step),
    })
  if (dryRun) return pass('copy', false)
  await assertStorages(options)
  await to.setItem(markerKey, '{}', { ttl: markerLifetime })
  const counts = await pass('copy', true)
  if (!final) return counts
  const different = await pass('verify', false)
  if (different.written + different.removed > 0) {
    throw new Error(
      `${different.written + different.removed} items of the source changed during the copy; stop every process of the service, then repeat the final copy`,
    )
  }
  await to.removeItem(markerKey, {})
  return counts
}
