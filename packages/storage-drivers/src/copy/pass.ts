import type { AtomicDriver, DriverItem } from '@grantry/core'
import type { ListableDriver, ListedItem } from './listable-driver.ts'

/** The number of items that a pass has handled so far. */
export interface CopyCounts {
  /** Items of the source. */
  readonly read: number
  /** Items of the source that the target did not have, or had with another value. */
  readonly written: number
  /** Items of the target that the source no longer has. */
  readonly removed: number
}

/** Items in one write: a storage serves no other client during a large one. */
const writeSize = 100
/**
 * Milliseconds. A comparison ignores an item that ends sooner, because the clocks of the storages differ, so that only
 * one of them may still have the item.
 */
const margin = 5000
/** Seconds. Counts as unlimited; every driver can represent it. */
const longest = 100 * 365 * 86_400

/** Values by key. */
export async function valuesOf(driver: AtomicDriver, keys: readonly string[]): Promise<ReadonlyMap<string, unknown>> {
  const items =
    driver.getItems === undefined
      ? await Promise.all(keys.map(async (key) => ({ key, value: await driver.getItem(key) })))
      : await driver.getItems(keys.map((key) => ({ key })))
  return new Map(items.map(({ key, value }) => [key, value ?? undefined]))
}

const uniqueByKey = (items: readonly ListedItem[]): readonly ListedItem[] => [
  ...new Map(items.map((item) => [item.key, item])).values(),
]

function itemOf({ key, value, endsAt }: ListedItem, now: number): DriverItem {
  return { key, value, ttl: Math.min(longest, Math.max(1, Math.ceil((endsAt - now) / 1000))) }
}

/** Performs writes, each with at most `writeSize` items. */
async function write(driver: AtomicDriver, put: readonly DriverItem[], remove: readonly string[]): Promise<void> {
  for (let start = 0; start < Math.max(put.length, remove.length); start += writeSize) {
    const changes = {
      create: [],
      put: put.slice(start, start + writeSize),
      remove: remove.slice(start, start + writeSize),
    }
    if (driver.commit !== undefined) await driver.commit(changes)
    else {
      await Promise.all([
        ...changes.put.map(({ key, value, ttl }) => driver.setItem(key, value, { ttl })),
        ...changes.remove.map((key) => driver.removeItem(key, {})),
      ])
    }
  }
}

export interface PassSettings {
  readonly from: ListableDriver
  readonly to: ListableDriver
  /** Keys that belong to the copy itself. */
  readonly ignored: ReadonlySet<string>
  /** Whether to change the target. */
  readonly writes: boolean
  readonly onProgress: (counts: CopyCounts) => void
}

/** Makes the items of the target equal to those of the source, or only counts the differences. */
export async function performPass({ from, to, ignored, writes, onProgress }: PassSettings): Promise<CopyCounts> {
  let counts: CopyCounts = { read: 0, written: 0, removed: 0 }
  const isCompared = ({ key, endsAt }: ListedItem): boolean =>
    !ignored.has(key) && endsAt > Date.now() + (writes ? 0 : margin)
  // A record contains its end, a counter does not.
  const isCounter = ({ value }: ListedItem): boolean => /^\d+$/u.test(value)
  const report = (added: Partial<CopyCounts>): void => {
    const { read = 0, written = 0, removed = 0 } = added
    counts = { read: counts.read + read, written: counts.written + written, removed: counts.removed + removed }
    onProgress(counts)
  }
  for await (const batch of from.listItems()) {
    const now = Date.now()
    const items = uniqueByKey(batch).filter(isCompared)
    const stored = await valuesOf(
      to,
      items.map(({ key }) => key),
    )
    const different = items.filter((item) => stored.get(item.key) !== item.value || (writes && isCounter(item)))
    if (writes)
      await write(
        to,
        different.map((item) => itemOf(item, now)),
        [],
      )
    report({ read: items.length, written: different.length })
  }
  for await (const batch of to.listItems()) {
    const items = uniqueByKey(batch).filter(isCompared)
    const keys = items.map(({ key }) => key)
    const kept = await valuesOf(from, keys)
    const gone = keys.filter((key) => kept.get(key) === undefined)
    if (writes) await write(to, [], gone)
    report({ removed: gone.length })
  }
  return counts
}
