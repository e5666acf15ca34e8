/**
 * Twice the capacity of the server, for a few seconds; `npm run prove:overload` runs longer and prints figures. The load does
 * not wait for responses, so excess requests accumulate somewhere. They must not fill the memory of the server, and
 * each must get a response.
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
/** Seconds of the load. */
const seconds = 1.5

describe('twice the capacity', () => {
  test.each(overloadKinds)(
    '%s: each request completes or gets 503 with Retry-After, and memory does not grow',
    async (kind) => {
      const { load, middle, start, end, warnings } = await overload(processes, kind, seconds)

      expect(Object.keys(load.statuses).filter((status) => status !== '200' && status !== '503')).toEqual([])
      expect(load.statuses[200] ?? 0).toBeGreaterThan(0)
      expect(load.withoutRetryAfter).toBe(0)
      expect(load.hung).toBe(0)
      expect(load.answered + load.heldBack).toBe(load.offered)
      // A request behind the load gets its response.
      expect(load.recovery).not.toBe(Number.POSITIVE_INFINITY)

      // The number of waiting requests is limited. These limits detect a leak of 10 KB per request.
      expect(end.heap - start.heap).toBeLessThan(32 * megabyte)
      expect(end.rss - start.rss).toBeLessThan(400 * megabyte)
      expect(middle.heap - start.heap).toBeLessThan(150 * megabyte)
      expect(warnings).toBe('')
    },
  )
})
