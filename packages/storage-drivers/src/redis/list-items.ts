import { inBatches, type ListedItem } from '../copy/listable-driver.ts'
import type { ItemKeys } from './item-key.ts'
import type { Connection } from './redis-connection.ts'

// The value of each key, and its remaining milliseconds: -1 for an item that never ends.
const script = `local replies = {}
for index, key in ipairs(KEYS) do replies[index] = { redis.call('GET', key), redis.call('PTTL', key) } end
return replies`

type Reply = readonly [value: string | null, milliseconds: number]

/** In a cluster, the keys are on several servers, so each has its own command. */
async function read({ client, run }: Connection, itemKeys: readonly string[]): Promise<readonly Reply[]> {
  const evaluate = (some: readonly string[]) =>
    run(() => client.call('eval', script, some.length, ...some)) as Promise<readonly Reply[]>
  if (!client.isCluster) return evaluate(itemKeys)
  return (await Promise.all(itemKeys.map((itemKey) => evaluate([itemKey])))).flat()
}

async function* each(pages: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  for await (const page of pages) yield* page
}

/** @param pages pages of keys. SCAN can return pages of any size, also empty ones. */
export async function* listItems(
  pages: AsyncIterable<readonly string[]>,
  connection: Connection,
  keys: ItemKeys,
): AsyncGenerator<readonly ListedItem[]> {
  for await (const batch of inBatches(each(pages))) {
    const replies = await read(connection, batch.map(keys.of))
    const now = Date.now()
    yield batch.flatMap((key, index): readonly ListedItem[] => {
      const [value, milliseconds] = replies[index] ?? [null, 0]
      if (typeof value !== 'string') return []
      return [{ key, value, endsAt: milliseconds < 0 ? Number.POSITIVE_INFINITY : now + milliseconds }]
    })
  }
}
