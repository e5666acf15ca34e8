// A write that is repeated alone, because another one of its turn was refused, has no new time limit: its caller has given
// up, and what it writes late could undo a later revocation.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Query } from '../../packages/storage-drivers/src/postgresql/job.ts'
import { statementsOf } from '../../packages/storage-drivers/src/postgresql/postgresql-statements.ts'
import { storedItem } from '../../packages/storage-drivers/src/postgresql/stored-item.ts'
import { createWrites } from '../../packages/storage-drivers/src/postgresql/writes.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Writes two items in one turn. The server refuses their statement after so many milliseconds. */
async function refusedAfter(milliseconds: number) {
  const limits: (number | undefined)[] = []
  const executor = {
    read: () => Promise.reject(new Error('not read')),
    async write(begin: () => Query, since?: number) {
      begin()
      limits.push(since)
      if (limits.length > 1) return { rows: [], count: 0 }
      vi.advanceTimersByTime(milliseconds)
      throw Object.assign(new Error('refused'), { code: '23514' })
    },
  }
  const write = createWrites(executor, statementsOf({ schema: 'public', prefix: 'grantry' }), 2000)
  const began = performance.now()
  const outcomes = await Promise.allSettled(['a', 'b'].map((key) => write({ put: [storedItem(key, key, 60)] })))
  return {
    limits: limits.map((since) => (since ?? Number.NaN) - began),
    outcomes: outcomes.map(({ status }) => status),
  }
}

test('is repeated with what is left of its time limit', async () => {
  expect(await refusedAfter(1900)).toEqual({ limits: [0, 0, 0], outcomes: ['fulfilled', 'fulfilled'] })
})

test('is not repeated after its time limit', async () => {
  expect(await refusedAfter(2000)).toEqual({ limits: [0], outcomes: ['rejected', 'rejected'] })
})
