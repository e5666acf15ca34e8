import type { Connections } from './connections.ts'
import type { ItemKeys } from './item-key.ts'
import { primariesOf } from './redis-connection.ts'

/** Yields pages of keys that start with `base`. SCAN can return a key twice. */
export type Scan = (base: string) => AsyncGenerator<string[]>

export function createScan({ reads, open }: Connections, keys: ItemKeys): Scan {
  return async function* scan(base) {
    await open()
    for (const primary of await primariesOf(reads)) {
      let cursor = '0'
      do {
        const [next, itemKeys] = await reads.run(() => primary.scan(cursor, 'MATCH', keys.pattern(base), 'COUNT', 1000))
        yield itemKeys.flatMap((itemKey) => keys.keyOf(itemKey) ?? [])
        cursor = next
      } while (cursor !== '0')
    }
  }
}
