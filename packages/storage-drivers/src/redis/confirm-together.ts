import { type Confirmation, confirm, type Outcome, type Write } from './confirm.ts'
import type { Connection } from './connection.ts'

interface Waiting {
  readonly write: Write
  settle(outcome: Outcome): void
}

/**
 * Batches the writes that arrive while a confirmation is in progress, and confirms them with one WAIT. WAIT blocks its
 * connection, so one WAIT per write would serialize all writes (see docs/decisions/0014-redis-driver.md).
 */
export function confirmTogether(
  connection: Connection,
  confirmation: Confirmation,
): (write: Write) => Promise<Outcome> {
  let waiting: Waiting[] = []
  let busy = false

  async function drain(): Promise<void> {
    busy = true
    while (waiting.length > 0) {
      const group = waiting
      waiting = []
      const writes = group.map(({ write }) => write)
      const outcomes = await confirm(connection, writes, confirmation).catch((error: Error) =>
        writes.map(() => ({ error })),
      )
      for (const [index, { settle }] of group.entries()) settle(outcomes[index] as Outcome)
    }
    busy = false
  }

  return (write) =>
    new Promise((settle) => {
      waiting.push({ write, settle })
      // The microtask lets other writes of this tick join the batch.
      if (!busy) {
        busy = true
        queueMicrotask(drain)
      }
    })
}
