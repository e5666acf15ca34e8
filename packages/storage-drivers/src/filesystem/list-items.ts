import { readFileSync } from 'node:fs'
import { inBatches, type ListedItem } from '../copy/listable-driver.ts'
import { expiryOf } from './item-name.ts'
import { walkSlots } from './list-slots.ts'
import { withLiveFile } from './slot.ts'
import { keyOf } from './slot-name.ts'
import type { StoreDirectory } from './store-directory.ts'

async function* items(store: StoreDirectory): AsyncGenerator<ListedItem> {
  for await (const { name, path } of walkSlots(store)) {
    const liveItem = withLiveFile(path, (file, item) => ({ value: readFileSync(file, 'utf8'), endsAt: expiryOf(item) }))
    if (liveItem !== undefined) yield { key: keyOf(name), ...liveItem }
  }
}

export const listItems = (store: StoreDirectory): AsyncIterable<readonly ListedItem[]> => inBatches(items(store))
