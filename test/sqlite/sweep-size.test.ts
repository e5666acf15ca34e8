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
  expect(sizesOf(4, (rows) => rows * 0.5)).toEqual([100, 50, 25, 20])
  expect(sizesOf(4, (rows) => rows * 0.05)).toEqual([100, 200, 200, 200])
})

test('stays small on a disk that is slow for any number of rows, and is limited on a fast one', () => {
  expect(sizesOf(6, () => 300)).toEqual([100, 50, 25, 13, 10, 10])
  expect(sizesOf(6, () => 0)).toEqual([100, 200, 400, 800, 1000, 1000])
})

test('stays the same after steps that find fewer rows', () => {
  expect(sizesOf(3, () => 0.1, 70)).toEqual([100, 100, 100])
})
