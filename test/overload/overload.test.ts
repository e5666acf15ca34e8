/**
 * Twice the load that the server carries, in bounded form: `npm run overload` is the long one, and prints figures. The load does not wait for answers, so whatever the server cannot do piles up somewhere; it must not be in its memory, and
 * nobody may be left without a word.
 */
import { beforeAll, describe, expect, test } from 'vitest'
import { overloadKinds } from './kinds.ts'
import { overload } from './overload.ts'
import { type Processes, prepareProcesses } from './processes.ts'

let processes: Processes
beforeAll(async () => {
  processes = await prepareProcesses()
})

const megabyte = 1024 * 1024
/** Seconds of twice the load, and what a test may take with all before and after it. */
const [seconds, limit] = [4, 45]

describe('twice the load', () => {
  test.each(overloadKinds)(
    '%s: everybody gets an answer or hears when to come back, and memory does not grow',
    async (kind) => {
      const { load, middle, start, end, complaints } = await overload(processes, kind, seconds)

      expect(Object.keys(load.statuses).filter((status) => status !== '200' && status !== '503')).toEqual([])
      expect(load.statuses[200] ?? 0).toBeGreaterThan(0)
      expect(load.withoutRetryAfter).toBe(0)
      expect(load.hung).toBe(0)
      expect(load.answered + load.heldBack).toBe(load.offered)
      // Milliseconds.
      expect(load.recovery).toBeLessThan(2000)

      // What waits at twice the load is bounded; a leak of 10 KB for each request would be seen.
      expect(end.heap - start.heap).toBeLessThan(32 * megabyte)
      expect(end.rss - start.rss).toBeLessThan(400 * megabyte)
      expect(middle.heap - start.heap).toBeLessThan(150 * megabyte)
      expect(complaints).toBe('')
    },
    limit * 1000,
  )
})
