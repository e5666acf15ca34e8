// The number of rows that a step of the sweeper removes: it blocks the event loop.
import { expect, test } from 'vitest'
import type { SqlDatabase } from '../../packages/storage-drivers/src/sqlite/engine.ts'
import { sweepRows } from '../../packages/storage-drivers/src/sqlite/sweep-rows.ts'

const database = {} as SqlDatabase

/** Returns the sizes of steps, each of which takes as many milliseconds as `tookOf` returns for its rows. */
function sizesOf(count: number, tookOf: (rows: number) => number, rows = Number.POSITIVE_INFINITY): readonly number[] {
  const sizes: number[] = []
  let [time, left] = [0, rows]
  const table = {
    sweep: (limit: number) => () => {
      sizes.push(limit)
      const removed = Math.min(limit, left)
      left -= removed
      time += tookOf(removed)
      return { removed, age: 1, isFull: removed === limit }
    },
  }
  const step = sweepRows(
    table,
    (perform) => perform(database),
    (_, act) => act(),
    () => time,
  )
  for (let each = 0; each < count; each += 1) void step()
  return sizes
}

test('approaches the rows that take 10 ms', () => {
  expect(sizesOf(4, (rows) => rows * 0.16)).toEqual([100, 63, 63, 63])
  expect(sizesOf(4, (rows) => rows * 0.08)).toEqual([100, 125, 125, 125])
})

test('has limits, on a disk that is slow for any number of rows and on a fast one', () => {
  expect(sizesOf(4, () => 300)).toEqual([100, 50, 50, 50])
  expect(sizesOf(4, () => 0)).toEqual([100, 200, 200, 200])
})

test('stays the same after steps that find fewer rows', () => {
  expect(sizesOf(3, () => 0.1, 70)).toEqual([100, 100, 100])
})
