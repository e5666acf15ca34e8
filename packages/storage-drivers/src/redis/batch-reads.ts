import type { Redis } from 'ioredis'
import type { Connection } from './connection.ts'

interface PendingRead {
  readonly itemKey: string
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** Most keys of one MGET: Redis serves no other client while it runs. */
const maxBatch = 500

/**
 * Reads the items that are requested in one turn of the event loop with one MGET. A command costs the process several
 * times as much as a key.
 */
export function batchReads(connection: Connection): (itemKey: string) => Promise<unknown> {
  let pending: PendingRead[] = []

  async function readBatch(batch: readonly PendingRead[]): Promise<void> {
    try {
      const itemKeys = batch.map(({ itemKey }) => itemKey)
      const values = await connection.run(() => (connection.client as Redis).mget(itemKeys))
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

  return (itemKey) =>
    new Promise((resolve, reject) => {
      if (pending.length === 0) setImmediate(flush)
      pending.push({ itemKey, resolve, reject })
    })
}
