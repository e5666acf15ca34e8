import { type Connection, isReplyError } from './connection.ts'

/** Operations that wait for nothing else, so that those of one turn can share a command. */
export interface Batches {
  /** Reads items. */
  read(itemKeys: readonly string[]): Promise<readonly unknown[]>
  /** Increments a counter. @param lifetime milliseconds after which a new one expires */
  increment(itemKey: string, lifetime: number): Promise<unknown>
}

/** A read, or an increment if it has a lifetime. */
interface Operation {
  readonly itemKey: string
  readonly lifetime: number | undefined
  resolve(reply: unknown): void
  reject(error: unknown): void
}

/** Maximum number of keys in one command: Redis serves no other client while it runs. */
const maxBatch = 500

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
 * Performs the operations that are requested in one turn of the event loop with one command, because a command costs this
 * process several times as much as a key. In a cluster, the keys are on several servers, so each has its own command.
 */
export function batchOperations(connection: Connection): Batches {
  let pending: Operation[] = []

  function repliesTo(itemKeys: readonly string[], lifetimes: readonly number[]): Promise<unknown> {
    const [itemKey = ''] = itemKeys
    return itemKeys.length === 1 && lifetimes.length === 0
      ? connection.run(async () => [await connection.client.get(itemKey)])
      : connection.run(() => connection.client.call('eval', script, itemKeys.length, ...itemKeys, ...lifetimes))
  }

  async function perform(batch: readonly Operation[]): Promise<void> {
    try {
      const lifetimes = batch.flatMap(({ lifetime }) => lifetime ?? [])
      const replies = await repliesTo(
        batch.map(({ itemKey }) => itemKey),
        lifetimes,
      )
      for (const [index, { resolve, reject }] of batch.entries()) {
        const reply: unknown = Array.isArray(replies) ? replies[index] : undefined
        if (isReplyError(reply)) reject(connection.explain(reply))
        else resolve(reply)
      }
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  function flush(): void {
    const counters = pending.filter(({ lifetime }) => lifetime !== undefined)
    const reads = pending.filter(({ lifetime }) => lifetime === undefined)
    pending = []
    const all = [...counters, ...reads]
    for (let start = 0; start < all.length; start += maxBatch) void perform(all.slice(start, start + maxBatch))
  }

  function add(operation: Operation): void {
    if (pending.length === 0) connection.atEndOfTurn(flush)
    pending.push(operation)
  }

  const request = connection.client.isCluster ? (operation: Operation) => void perform([operation]) : add

  return {
    read: (itemKeys) =>
      new Promise((resolve, reject) => {
        const values: unknown[] = []
        let missing = itemKeys.length
        if (missing === 0) return resolve(values)
        for (const [index, itemKey] of itemKeys.entries()) {
          const keep = (value: unknown): void => {
            values[index] = value
            missing -= 1
            if (missing === 0) resolve(values)
          }
          request({ itemKey, lifetime: undefined, resolve: keep, reject })
        }
      }),
    increment: (itemKey, lifetime) => new Promise((resolve, reject) => request({ itemKey, lifetime, resolve, reject })),
  }
}
