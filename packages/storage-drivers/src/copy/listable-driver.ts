import type { AtomicDriver } from '@grantry/core'

/** An item, with the moment at which it ends. */
export interface ListedItem {
  readonly key: string
  readonly value: string
  /** Milliseconds since the epoch; `Infinity` for an item that never ends. */
  readonly endsAt: number
}

/** A driver whose items can be copied to another storage. The provider never lists items. */
export interface ListableDriver extends AtomicDriver {
  /**
   * Yields the items that have not ended, in batches of at most 500. An item that is written or removed meanwhile may be
   * missing, and an item can occur twice; every other item occurs.
   */
  listItems(): AsyncIterable<readonly ListedItem[]>
  /** Returns the number of items, which may be an estimate, to show the progress of a copy. */
  countItems(): Promise<number>
}

/** Maximum number of items in a batch of `listItems()`. */
export const batchSize = 500

/** Collects items into batches of `batchSize`. */
export async function* inBatches<T>(items: AsyncIterable<T>): AsyncGenerator<readonly T[]> {
  let batch: T[] = []
  for await (const item of items) {
    batch.push(item)
    if (batch.length < batchSize) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
