// Where a step of the sweeper begins to search: the index has entries of removed rows until the table is vacuumed.
import { expect, test } from 'vitest'
import type { Executor } from '../../packages/storage-drivers/src/postgresql/executor.ts'
import { statementsOf } from '../../packages/storage-drivers/src/postgresql/postgresql-statements.ts'
import { sweepRows } from '../../packages/storage-drivers/src/postgresql/sweep-rows.ts'

/** A reply of the database: rows removed, and the earliest end of the next search; or the error. */
type Reply = readonly [removed: number, next: string] | Error

/** Performs a step for each reply, `took` milliseconds each. Returns where they began. */
async function startsOf(replies: readonly Reply[], took: readonly number[]): Promise<readonly unknown[]> {
  const starts: unknown[] = []
  let time = 1_800_000_000_000
  const executor: Executor = {
    read: () => Promise.reject(new Error('A sweeper writes')),
    async write(begin) {
      const step = starts.push(begin().values[1]) - 1
      time += took[step] ?? 0
      const reply = replies[step] ?? [0, '']
      if (reply instanceof Error) throw reply
      return { rows: [[String(reply[0]), '5', reply[1]]], count: 1 }
    },
  }
  const step = sweepRows(executor, statementsOf({ schema: 'public', prefix: 'grantry' }), () => time)
  for (const _ of replies) await step().catch(() => {})
  return starts
}

test('a step begins where the one before ended, whether there were more rows or not', async () => {
  const replies: Reply[] = [
    [1000, '100.5'],
    [1000, '200.5'],
    [7, '290.5'],
    [0, '291.5'],
  ]
  expect(await startsOf([...replies, [0, '292.5']], [500])).toEqual(['-infinity', '100.5', '200.5', '290.5', '291.5'])
})

test('searches from the first end take a hundredth of the time', async () => {
  const replies = Array.from({ length: 5 }, (_, index): Reply => [0, String(index)])
  // 20 ms for the first one, so the next is due after 2,000 ms.
  expect(await startsOf(replies, [20, 1000, 999, 1, 0])).toEqual(['-infinity', '0', '1', '2', '-infinity'])
})

test('a search that takes too long does not keep the rows that end later', async () => {
  const canceled = Object.assign(new Error('canceled'), { code: '57014' })
  expect(await startsOf([canceled, [0, '1799999993'], [0, '']], [2000])).toEqual([
    '-infinity',
    '1799999990',
    '1799999993',
  ])
})
