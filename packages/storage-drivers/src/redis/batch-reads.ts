import { type Connection, isReplyError } from './connection.ts'

interface PendingRead {
  readonly itemKey: string
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** Maximum number of keys in one command: Redis serves no other client while it runs. */
const maxBatch = 500

// Not MGET: it reports a key of another type as absent, and a marker that forbids something must not count as absent.
const readScript =
  "local values = {} for index, key in ipairs(KEYS) do values[index] = redis.call('GET', key) end return values"

/**
 * Reads items. Those that are requested in one turn of the event loop share one command, because a command costs this
 * process several times as much as a key. In a cluster, the keys are on several servers, so each is read by itself.
 */
export function batchReads(connection: Connection): (itemKeys: readonly string[]) => Promise<readonly unknown[]> {
  const readOne = (itemKey: string): Promise<unknown> => connection.run(() => connection.client.get(itemKey))
  if (connection.client.isCluster) return (itemKeys) => Promise.all(itemKeys.map(readOne))
  let pending: PendingRead[] = []

  function readEach(batch: readonly PendingRead[]): void {
    for (const { itemKey, resolve, reject } of batch) readOne(itemKey).then(resolve, reject)
  }

  /** Resolves to `undefined` after an error reply. */
  const readAll = (itemKeys: readonly string[]): Promise<unknown> =>
    connection.run(() =>
      connection.client.call('eval', readScript, itemKeys.length, ...itemKeys).catch((error: unknown) => {
        if (!isReplyError(error)) throw error
      }),
    )

  async function readBatch(batch: readonly PendingRead[]): Promise<void> {
    if (batch.length === 1) return readEach(batch)
    try {
      const values = await readAll(batch.map(({ itemKey }) => itemKey))
      // One key that cannot be read must not fail the others.
      if (!Array.isArray(values)) return readEach(batch)
      for (const [index, { resolve }] of batch.entries()) resolve(values[index])
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  function flush(): void {
    const all = pending
    pending = []
    for (let start = 0; start < all.length; start += maxBatch) void readBatch(all.slice(start, start + maxBatch))
  }

  return (itemKeys) =>
    new Promise((resolve, reject) => {
      const values: unknown[] = []
      let missing = itemKeys.length
      if (missing === 0) return resolve(values)
      if (pending.length === 0) connection.atEndOfTurn(flush)
      for (const [index, itemKey] of itemKeys.entries()) {
        const keep = (value: unknown): void => {
          values[index] = value
          missing -= 1
          if (missing === 0) resolve(values)
        }
        pending.push({ itemKey, resolve: keep, reject })
      }
    })
}
