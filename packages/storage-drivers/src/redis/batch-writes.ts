import { type Confirmation, confirmWrites, type Write, type WriteReply } from './confirm-writes.ts'
import type { Connection } from './redis-connection.ts'

interface PendingWrite {
  readonly write: Write
  settle(outcome: WriteReply): void
}

/**
 * Batches the writes that arrive while a confirmation is in progress, and confirms them with one WAIT. WAIT blocks its
 * connection, so one WAIT per write would serialize all writes (see docs/decisions/0014-redis-driver.md).
 */
export function batchWrites(connection: Connection, confirmation: Confirmation): (write: Write) => Promise<WriteReply> {
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
