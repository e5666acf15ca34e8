import { batchWrites } from './batch-writes.ts'
import { confirmWrites, type Outcome, type Write } from './confirm-writes.ts'
import type { Connections } from './connections.ts'
import type { ItemKeys } from './item-key.ts'
import type { RedisSettings } from './options.ts'

/**
 * Runs a write command on the item of a key. Resolves to the reply of Redis; with `waitReplicas`, once the replicas
 * have the write.
 */
export type Writer = (key: string, name: string, ...parameters: (string | number)[]) => Promise<unknown>

export function createWriter(
  { open, writes }: Pick<Connections, 'open' | 'writes'>,
  keys: ItemKeys,
  { replicas, replicaTimeout }: RedisSettings,
): Writer {
  const confirmation = { replicas, replicaTimeout, fenceOf: keys.fenceOf }
  const batched = batchWrites(writes, confirmation)
  const single = async (write: Write): Promise<Outcome> => {
    const [outcome] = await confirmWrites(writes, [write], confirmation)
    return outcome as Outcome
  }
  // A batch goes to one server, so a cluster confirms each write separately.
  const confirmed = writes.client.isCluster ? single : batched

  return async (key, name, ...parameters) => {
    const opening = open()
    if (opening !== undefined) await opening
    const itemKey = keys.of(key)
    if (replicas === 0) return writes.run(() => writes.client.call(name, itemKey, ...parameters))
    // The time limit includes the time in the queue.
    return writes.run(async () => {
      const outcome = await confirmed({ itemKey, command: [name, itemKey, ...parameters] })
      if ('error' in outcome) throw outcome.error
      return outcome.reply
    })
  }
}
