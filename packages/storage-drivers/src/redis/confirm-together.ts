import { type Confirmation, confirm, type Outcome, type Write } from './confirm.ts'
import type { Connection } from './connection.ts'

interface Waiting {
  readonly write: Write
  settle(outcome: Outcome): void
}

/**
 * Confirms what comes while an earlier confirmation is under way together, with one WAIT: a connection that waits does nothing else, so one WAIT
 * for each write would make every write wait for all others (see docs/decisions/0014-redis-driver.md).
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
      // Whatever else is asked for in this tick goes along.
      if (!busy) {
        busy = true
        queueMicrotask(drain)
      }
    })
}
