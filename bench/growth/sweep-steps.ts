import pg from 'pg'
import { statementsOf } from '../../packages/storage-drivers/src/postgresql/postgresql-statements.ts'
import { sweepRows } from '../../packages/storage-drivers/src/postgresql/sweep-rows.ts'
import type { PostgresqlServer } from '../../test/support/postgresql-server.ts'
import type { BenchTable } from './item-table.ts'

/** Durations in milliseconds. */
export interface StepFigures {
  readonly steps: number
  readonly median: number
  readonly longest: number
}

const figuresOf = (durations: readonly number[]): StepFigures => ({
  steps: durations.length,
  median: [...durations].sort((first, second) => first - second)[durations.length >> 1] ?? 0,
  longest: Math.max(...durations),
})

/**
 * Removes all expired rows, step after step, and returns figures of each tenth of them. The last ones are of steps that
 * find nothing.
 */
export async function measureSteps(
  server: PostgresqlServer,
  { prefix }: BenchTable,
  expired: number,
): Promise<readonly StepFigures[]> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  try {
    const { sweep } = statementsOf({ schema: 'public', prefix })
    const step = sweepRows(
      {
        read: () => Promise.reject(new Error('A sweeper writes')),
        async write(begin) {
          const { statement, values } = begin()
          const { rows, rowCount } = await client.query({
            ...statement,
            values: [...values],
            rowMode: 'array',
            types: { getTypeParser: () => (text: string) => text },
          })
          return { rows, count: rowCount ?? 0 }
        },
      },
      { sweep },
    )
    const parts: number[][] = []
    for (let removed = 0; ; ) {
      const part = parts[Math.floor((removed / expired) * 10)] ?? []
      parts[Math.floor((removed / expired) * 10)] = part
      const start = performance.now()
      const outcome = await step()
      part.push(performance.now() - start)
      removed += outcome.removed
      if (!outcome.isFull && part.length >= 20) return parts.filter((each) => each !== undefined).map(figuresOf)
    }
  } finally {
    await client.end()
  }
}

/** Keeps a snapshot open, as a backup does, so that no removed row can be vacuumed. Returns a function that closes it. */
export async function openSnapshot(server: PostgresqlServer): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  await client.query('SELECT 1')
  return () => client.end()
}
