import { batchSize, type ListedItem } from '../copy/listable-driver.ts'
import { packedRanges, pageRange, unpackKey } from '../sql/item-key.ts'
import type { Executor } from './executor.ts'
import { hexOf, keyArray, keyOf } from './parameters.ts'
import type { Result, Statement } from './postgresql-connection.ts'
import type { Statements } from './postgresql-statements.ts'

const textOf = (hex: string): string => unpackKey(Buffer.from(hex, 'hex'))

/** Operations on many items, which no request performs: for unstorage, and for copies of a storage. */
export function createListing(executor: Executor, statements: Statements) {
  const { list, listItems, removeAll, countItems } = statements

  const read = (statement: Statement, values: readonly unknown[]): Promise<Result> =>
    executor.read(() => ({ statement, values }))

  /** Yields rows that begin with a key, in the order of the keys, from one key to below another. */
  async function* pagesOf(statement: Statement, from: string, below: string): AsyncGenerator<Result['rows']> {
    let start = from
    for (;;) {
      const { rows } = await read(statement, [start, below, batchSize])
      if (rows.length > 0) yield rows
      const last = rows.at(-1)?.[0]
      if (!last || rows.length < batchSize) return
      // The smallest key after the last one.
      start = `\\x${last}00`
    }
  }

  async function* keysOf(base: string): AsyncGenerator<readonly string[]> {
    for (const [from, below] of packedRanges(base)) {
      for await (const rows of pagesOf(list, hexOf(from), hexOf(below))) {
        // A range can contain other keys.
        yield rows.map(([key]) => textOf(key as string)).filter((key) => key.startsWith(base))
      }
    }
  }

  return {
    async allKeys(base: string): Promise<string[]> {
      const keys: string[] = []
      for await (const page of keysOf(base)) keys.push(...page)
      return keys
    },
    async page(base: string, after: string, limit: number): Promise<string[]> {
      const [from, below] = pageRange(base, after)
      const { rows } = await read(list, [hexOf(from), hexOf(below), limit])
      return rows.map(([key]) => textOf(key as string))
    },
    async clearKeys(base: string): Promise<void> {
      for await (const page of keysOf(base)) {
        const values = [keyArray(page.map(keyOf))]
        await executor.write(() => ({ statement: removeAll, values }))
      }
    },
    async *items(): AsyncGenerator<readonly ListedItem[]> {
      // The row of the version has the empty key.
      for await (const rows of pagesOf(listItems, '\\x00', '\\xff')) {
        // The clock of the database can differ from that of this process.
        const now = Date.now()
        yield rows.map(([key, value, left]) => ({
          key: textOf(key as string),
          value: value as string,
          endsAt: now + Number(left),
        }))
      }
    },
    async count(): Promise<number> {
      const { rows } = await read(countItems, [])
      return Number(rows[0]?.[0])
    },
  }
}
