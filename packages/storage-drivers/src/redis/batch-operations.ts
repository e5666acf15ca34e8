import { collectTurn, maxBatch } from './collect-turn.ts'
import { type Connection, isReplyError } from './redis-connection.ts'

/** Operations that wait for nothing else, so that those of one turn can share a command. */
export interface Batches {
  read(itemKeys: readonly string[]): Promise<readonly unknown[]>
  /** Increments a counter. Resolves to its value, alone. @param lifetime milliseconds after which a new one expires */
  increment(itemKey: string, lifetime: number): Promise<readonly unknown[]>
}

/** A read of several items, or an increment of one if it has a lifetime. */
interface Operation {
  readonly itemKeys: readonly string[]
  readonly lifetime: number | undefined
  resolve(replies: readonly unknown[]): void
  reject(error: unknown): void
}

// KEYS: the counters, then the items to read. ARGV: the milliseconds of each counter. `pcall`: an item that cannot be
// read must not fail the others. A server that has become a replica fails all, so that ioredis reconnects.
// The script is one atomic step: a connection lost between INCR and PEXPIRE would leave a counter that never expires.
// Not MGET: it reports a key of another type as absent, and a marker that forbids something must not count as absent.
const script = `local replies = {}
for index, key in ipairs(KEYS) do
  if index > #ARGV then
    replies[index] = redis.pcall('GET', key)
  else
    local count = redis.pcall('INCR', key)
    if count == 1 then redis.call('PEXPIRE', key, ARGV[index]) end
    if type(count) == 'table' and string.find(count.err, 'READONLY', 1, true) then return count end
    replies[index] = count
  end
end
return replies`

/**
 * Performs the operations of one turn of the event loop with one command. In a cluster, the keys are on several servers,
 * so each has its own command.
 */
export function batchOperations(connection: Connection): Batches {
  function repliesTo(itemKeys: readonly string[], lifetimes: readonly number[]): Promise<unknown> {
    const [itemKey = ''] = itemKeys
    return itemKeys.length === 1 && lifetimes.length === 0
      ? connection.run(async () => [await connection.client.get(itemKey)])
      : connection.run(() => connection.client.call('eval', script, itemKeys.length, ...itemKeys, ...lifetimes))
  }

  /** Passes each operation its part of the replies. */
  function distribute(replies: readonly unknown[], batch: readonly Operation[]): void {
    let start = 0
    for (const { itemKeys, resolve, reject } of batch) {
      const itemReplies = replies.slice(start, start + itemKeys.length)
      start += itemKeys.length
      const error = itemReplies.find(isReplyError)
      if (error === undefined) resolve(itemReplies)
      else reject(connection.explain(error))
    }
  }

  async function perform(batch: readonly Operation[]): Promise<void> {
    const itemKeys: string[] = []
    const lifetimes: number[] = []
    for (const operation of batch) {
      itemKeys.push(...operation.itemKeys)
      if (operation.lifetime !== undefined) lifetimes.push(operation.lifetime)
    }
    try {
      const replies = await repliesTo(itemKeys, lifetimes)
      distribute(Array.isArray(replies) ? replies : [], batch)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  const isCounter = ({ lifetime }: Operation): boolean => lifetime !== undefined
  const add = collectTurn<Operation>(
    connection,
    (batch) => void perform(batch),
    // The script expects the counters first.
    (all) => [...all.filter(isCounter), ...all.filter((operation) => !isCounter(operation))],
  )

  const request = (itemKeys: readonly string[], lifetime?: number): Promise<readonly unknown[]> =>
    new Promise((resolve, reject) => {
      const operation: Operation = { itemKeys, lifetime, resolve, reject }
      if (connection.client.isCluster) void perform([operation])
      else add(operation)
    })

  /** Reads more items than one command may have. */
  async function readInParts(itemKeys: readonly string[], most: number): Promise<readonly unknown[]> {
    const parts = Array.from({ length: Math.ceil(itemKeys.length / most) }, (_, index) =>
      request(itemKeys.slice(index * most, (index + 1) * most)),
    )
    return (await Promise.all(parts)).flat()
  }

  return {
    read(itemKeys) {
      if (itemKeys.length === 0) return Promise.resolve([])
      const most = connection.client.isCluster ? 1 : maxBatch
      return itemKeys.length <= most ? request(itemKeys) : readInParts(itemKeys, most)
    },
    increment: (itemKey, lifetime) => request([itemKey], lifetime),
  }
}
