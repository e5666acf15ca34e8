import { batchWrites } from './batch-writes.ts'
import { confirmWrites, type Write, type WriteReply } from './confirm-writes.ts'
import type { Connections } from './connections.ts'
import type { ItemKeys } from './item-key.ts'
import type { RedisSettings } from './redis-options.ts'

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
