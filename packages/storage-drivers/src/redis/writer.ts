import { type Confirmation, confirmWrites, type Write, type WriteReply } from './confirm-writes.ts'
import type { Connections } from './connections.ts'
import type { ItemKeys } from './item-key.ts'
import type { Connection } from './redis-connection.ts'
import type { RedisSettings } from './redis-options.ts'

interface PendingWrite {
  readonly write: Write
  settle(outcome: WriteReply): void
}

/**
 * Batches the writes that arrive while a confirmation is in progress, and confirms them with one WAIT. WAIT blocks its
 * connection, so one WAIT per write would serialize all writes (see docs/decisions/0014-redis-driver.md).
 */
function batchWrites(connection: Connection, confirmation: Confirmation): (write: Write) => Promise<WriteReply> {
  let pending: PendingWrite[] = []
  let isDraining = false

  async function drain(): Promise<void> {
    while (pending.length > 0) {
      const batch = pending
      pending = []
      const writes = batch.map(({ write }) => write)
      const outcomes = await confirmWrites(connection, writes, confirmation).catch((error: Error) =>
        writes.map(() => ({ error })),
      )
      for (const [index, { settle }] of batch.entries()) settle(outcomes[index] as WriteReply)
    }
    isDraining = false
  }

  return (write) =>
    new Promise((settle) => {
      pending.push({ write, settle })
      // The microtask lets other writes of this tick join the batch.
      if (!isDraining) {
        isDraining = true
        queueMicrotask(drain)
      }
    })
}

/**
 * Runs a command that writes the item, and possibly others of the same slot. Resolves to the reply of Redis; with
 * `waitReplicas`, once the replicas have the write.
 */
export type Writer = (itemKey: string, command: Write['command']) => Promise<unknown>

export function createWriter(
  { open, writes }: Pick<Connections, 'open' | 'writes'>,
  { fenceOf }: Pick<ItemKeys, 'fenceOf'>,
  { replicas, replicaTimeout }: RedisSettings,
): Writer {
  const confirmation = { replicas, replicaTimeout, fenceOf }
  const batched = batchWrites(writes, confirmation)
  const single = async (write: Write): Promise<WriteReply> => {
    const [outcome] = await confirmWrites(writes, [write], confirmation)
    return outcome as WriteReply
  }
  // A batch goes to one server, so a cluster confirms each write separately.
  const confirmed = writes.client.isCluster ? single : batched

  return async (itemKey, command) => {
    const opening = open()
    if (opening !== undefined) await opening
    if (replicas === 0) return writes.run(() => writes.client.call(...command))
    // The time limit includes the time in the queue.
    return writes.run(async () => {
      const outcome = await confirmed({ itemKey, command })
      if ('error' in outcome) throw outcome.error
      return outcome.reply
    })
  }
}
