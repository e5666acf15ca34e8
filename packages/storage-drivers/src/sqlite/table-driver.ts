import type { DriverChanges, MaybePromise } from '@grantry/core'
import type { ListedItem } from '../copy/listable-driver.ts'
import { packKey } from '../sql/item-key.ts'
import { rejecting } from '../storage-error.ts'
import type { ItemTable, Step } from './item-table.ts'

/** How a driver performs steps on its database. */
export interface StepRunner {
  read<T>(step: Step<T>): MaybePromise<T>
  /** Performs reads in one state of the database. */
  readTogether<T>(step: Step<T>): MaybePromise<T>
  /** Performs writes in one transaction. */
  write<T>(step: Step<T>): MaybePromise<T>
}

/**
 * The operations of a driver on a table. `ttl` is in seconds; fractions are allowed. Those of unstorage are among them;
 * a test checks them against its type.
 */
export interface TableOperations {
  getItem(key: string): MaybePromise<string | null>
  getItems(items: readonly { readonly key: string }[]): MaybePromise<{ key: string; value: string | null }[]>
  hasItem(key: string): MaybePromise<boolean>
  setItem(key: string, value: string, options?: { ttl?: number | undefined }): Promise<void>
  insertItem(key: string, value: string, options: { ttl: number }): Promise<boolean>
  incrementItem(key: string, options: { ttl: number }): Promise<number>
  commit(changes: DriverChanges): Promise<true | readonly string[]>
  replaceItem(key: string, change: { from: string; to: string; ttl: number }): Promise<boolean>
  listKeys(base: string, page: { after: string; limit: number }): Promise<string[]>
  removeItem(key: string): Promise<void>
  /** Returns every key that starts with `base`. For unstorage; the provider never calls it. */
  getKeys(base?: string, options?: object): Promise<string[]>
  clear(base?: string): Promise<void>
  /** Yields the items that have not ended, in batches, to copy them. The provider never calls it. */
  listItems(): AsyncGenerator<readonly ListedItem[]>
  /** Returns the number of stored items, with those that have expired and are not removed yet. */
  countItems(): Promise<number>
}

/** Items in a batch of `listItems()`, and keys that `clear()` removes in one transaction. */
const batchSize = 200

async function* listItems(table: ItemTable, { read }: StepRunner): AsyncGenerator<readonly ListedItem[]> {
  // The key of the row with the version.
  let after: Uint8Array = new Uint8Array()
  for (;;) {
    const items = await read(table.list(after, batchSize))
    const last = items.at(-1)
    if (last === undefined) return
    yield items
    after = packKey(last.key)
  }
}

async function clear(table: ItemTable, { read, write }: StepRunner, base: string): Promise<void> {
  const keys = await read(table.keys(base))
  for (let start = 0; start < keys.length; start += batchSize) {
    await write(table.commit({ create: [], put: [], remove: keys.slice(start, start + batchSize) }))
  }
}

const readAll = (table: ItemTable, keys: readonly string[]): Step<{ key: string; value: string | null }[]> => {
  const reads = keys.map((key) => ({ key, read: table.read(key) }))
  return (database) => reads.map(({ key, read }) => ({ key, value: read(database) }))
}

export function tableOperations(table: ItemTable, runner: StepRunner): TableOperations {
  const { read, readTogether, write } = runner
  return {
    getItem: (key) => rejecting(() => read(table.read(key))),
    getItems: (items) =>
      rejecting(() =>
        readTogether(
          readAll(
            table,
            items.map(({ key }) => key),
          ),
        ),
      ),
    async hasItem(key) {
      return (await read(table.read(key))) !== null
    },
    async setItem(key, value, options) {
      await write(table.set(key, value, options?.ttl))
    },
    insertItem: async (key, value, { ttl }) => write(table.insert(key, value, ttl)),
    async incrementItem(key, { ttl }) {
      const count = await write(table.increment(key, ttl))
      if (!Number.isSafeInteger(count)) throw new TypeError('The stored item of this key is not a counter')
      return count
    },
    commit: async (changes) => write(table.commit(changes)),
    replaceItem: async (key, change) => write(table.replace(key, change)),
    listKeys: async (base, { after, limit }) => read(table.page(base, after, limit)),
    async removeItem(key) {
      await write(table.remove(key))
    },
    getKeys: async (base = '') => read(table.keys(base)),
    clear: (base = '') => clear(table, runner, base),
    listItems: () => listItems(table, runner),
    countItems: async () => read(table.count()),
  }
}
