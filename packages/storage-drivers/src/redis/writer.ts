import { confirm, type Outcome, type Write } from './confirm.ts'
import { confirmTogether } from './confirm-together.ts'
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
  { replicas, patience }: RedisSettings,
): Writer {
  const confirmation = { replicas, patience, fenceOf: keys.fenceOf }
  const grouped = confirmTogether(writes, confirmation)
  const alone = async (write: Write): Promise<Outcome> => {
    const [outcome] = await confirm(writes, [write], confirmation)
    return outcome as Outcome
  }
  // A batch goes to one server, so a cluster confirms each write separately.
  const confirmed = writes.client.isCluster ? alone : grouped

  return async (key, name, ...parameters) => {
    const opening = open()
    if (opening !== undefined) await opening
    const itemKey = keys.of(key)
    if (replicas === 0) return writes.run(() => writes.client.call(name, itemKey, ...parameters))
    // The time limit includes the time in the queue.
    return writes.run(async () => {
      const outcome = await confirmed({ itemKey, command: [name, itemKey, ...parameters] })
      if ('error' in outcome) throw outcome.error
      return outcome.answer
    })
  }
}
