import { type Confirmation, commit, type Outcome, type Write } from './commit.ts'
import type { Connection } from './connection.ts'

interface Waiting {
  readonly write: Write
  settle(outcome: Outcome): void
}

/**
 * Commits what comes while an earlier commit is under way together, with one WAIT: a connection that waits does nothing else, so one WAIT
 * for each write would make every write wait for all others (measured: see docs/decisions/0014-redis-driver.md).
 */
export function groupCommit(connection: Connection, confirmation: Confirmation): (write: Write) => Promise<Outcome> {
  let waiting: Waiting[] = []
  let busy = false

  async function drain(): Promise<void> {
    busy = true
    while (waiting.length > 0) {
      const group = waiting
      waiting = []
      const writes = group.map(({ write }) => write)
      const outcomes = await commit(connection, writes, confirmation).catch((error: Error) =>
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
