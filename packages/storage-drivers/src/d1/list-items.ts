import { batchSize, type ListedItem } from '../copy/listable-driver.ts'
import { unpackKey } from '../sql/item-key.ts'
import { endsAtOf } from '../sqlite/item-end.ts'
import { decodeValue } from '../sqlite/item-value.ts'
import type { D1Statements } from './d1-statements.ts'
import type { D1Executor } from './executor.ts'

/** Returns the key that `hexKey()` has converted. */
const keyIn = (hex: string): string =>
  unpackKey(Uint8Array.from(hex.match(/../gu) ?? [], (digits) => Number.parseInt(digits, 16)))

/** Operations on all items, for copies. @param prepare creates the table if needed */
export function createListing(executor: D1Executor, sql: D1Statements, prepare: () => Promise<void>) {
  return {
    /** Yields the items that have not ended, in the order of their packed keys: one trip for each batch. */
    async *listItems(): AsyncGenerator<readonly ListedItem[]> {
      await prepare()
      // The row with the version has the empty key.
      for (let after = ''; ; ) {
        const rows = await executor.all(sql.list, after, Date.now(), batchSize)
        if (rows.length > 0)
          yield rows.map(({ key, value, ends }) => ({
            key: keyIn(String(key)),
            value: decodeValue(value),
            endsAt: endsAtOf(ends),
          }))
        if (rows.length < batchSize) return
        after = String(rows.at(-1)?.key)
      }
    },
    async countItems(): Promise<number> {
      await prepare()
      return Number((await executor.all(sql.count))[0]?.items)
    },
  }
}
