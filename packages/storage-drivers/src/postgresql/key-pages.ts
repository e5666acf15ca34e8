import { packedRanges, unpackKey } from '../sql/item-key.ts'
import type { Executor } from './executor.ts'
import { hexOf, keyArray, keyOf } from './parameters.ts'
import type { Statements } from './statements.ts'

/** Keys in one statement. */
const pageSize = 1000

const bytesOf = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex')

/** Lists and removes the items of a prefix, for unstorage. */
export function keyPages(executor: Executor, { list, removeAll }: Pick<Statements, 'list' | 'removeAll'>) {
  async function* pagesOf(base: string): AsyncGenerator<readonly string[]> {
    for (const [from, below] of packedRanges(base)) {
      let start = hexOf(from)
      for (;;) {
        const values = [start, hexOf(below), pageSize]
        const { rows } = await executor.read(() => ({ statement: list, values }))
        const found = rows.map(([key]) => key as string)
        // A range can contain other keys.
        yield found.map((key) => unpackKey(bytesOf(key))).filter((key) => key.startsWith(base))
        const last = found.at(-1)
        if (last === undefined || found.length < pageSize) break
        // The smallest key after the last one.
        start = `${last}00`
      }
    }
  }

  return {
    async allKeys(base: string): Promise<string[]> {
      const keys: string[] = []
      for await (const page of pagesOf(base)) keys.push(...page)
      return keys
    },
    async clearKeys(base: string): Promise<void> {
      for await (const page of pagesOf(base)) {
        const values = [keyArray(page.map(keyOf))]
        await executor.write(() => ({ statement: removeAll, values }))
      }
    },
  }
}
