// The outcome of a storage operation counts until the time limit. A later one changes nothing, and a late rejection
// must not end the process: nothing waits for it any more.
import { mapDriver } from '@grantry/testing'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openStore } from '../../packages/core/src/records/store.ts'
import { webRuntime } from '../../packages/core/src/runtime.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** A store with a time limit of 5 s, and the writes that its storage has not answered. */
function started() {
  const pending: { resolve(): void; reject(error: Error): void }[] = []
  const setItem = () => new Promise<void>((resolve, reject) => pending.push({ resolve, reject }))
  const runtime = { ...webRuntime, now: () => 1_800_000_000 }
  const store = openStore({ ...mapDriver(), setItem }, { runtime, timeLimit: 5, onRejected() {} })
  return { pending, put: async () => store.put('known:1', {}, 1_800_000_060) }
}

const unavailable = (message: string) => ({ code: 'temporarily_unavailable', details: { cause: new Error(message) } })
const late = unavailable('The storage did not respond within 5 s')

test.each<[string, (write: ReturnType<typeof started>['pending'][number]) => void]>([
  ['a result', ({ resolve }) => resolve()],
  ['a rejection', ({ reject }) => reject(new Error('disk full'))],
])('%s counts within the time limit, and is ignored after it', async (what, settle) => {
  const { pending, put } = started()
  const outcomes = Promise.allSettled([put(), put()])
  const [first, second] = pending
  if (first === undefined || second === undefined) throw new Error('Nothing was written')
  vi.advanceTimersByTime(4999)
  settle(first)
  await vi.advanceTimersByTimeAsync(1)
  // Vitest fails a run with an unhandled rejection.
  settle(second)
  const inTime = what === 'a result' ? { status: 'fulfilled' } : { reason: unavailable('disk full') }
  expect(await outcomes).toMatchObject([inTime, { status: 'rejected', reason: late }])
  expect(vi.getTimerCount()).toBe(0)
})
