// Attack: concurrent failures at several processes, whose counts arrive late and in any order. A process must neither
// admit more than the limit nor refuse below it.
import { mapDriver } from '@grantry/testing'
import { expect, test } from 'vitest'
import { createWindowLimit } from '../../packages/core/src/abuse/window-limit.ts'
import { createRecorder } from '../../packages/core/src/events/recorder.ts'
import { openStore } from '../../packages/core/src/records/store.ts'
import { webRuntime } from '../../packages/core/src/runtime.ts'

/** A limit of 4 failures on a storage whose responses the test sends. */
function started() {
  const pending: { resolve(count: number): void; reject(error: Error): void }[] = []
  const driver = {
    ...mapDriver(),
    incrementItem: () => new Promise<number>((resolve, reject) => pending.push({ resolve, reject })),
  }
  let reached = 0
  const runtime = { ...webRuntime, now: () => 1_800_000_000 }
  const store = openStore(driver, { runtime, timeLimit: 5, onRejected() {} })
  const recorder = createRecorder(({ type }) => {
    if (type === 'abuse_limited') reached += 1
  }, runtime)
  const trace = recorder.start()
  const limit = createWindowLimit(
    { failures: 4, window: 60 },
    { limit: 'test', issuer: 'https://id.example.com', store, runtime, recorder },
  )
  return {
    limit,
    fail: () => limit.announce('alice').count(trace),
    pending,
    isReached: () => limit.knownWait('alice') !== undefined,
    reached: () => reached,
  }
}

test('failures in flight are part of the count', async () => {
  const { fail, isReached, pending } = started()
  const counting = [fail(), fail(), fail()]
  expect(isReached()).toBe(false)
  counting.push(fail())
  expect(isReached()).toBe(true)
  for (const [index, { resolve }] of pending.entries()) resolve(index + 1)
  expect(await Promise.all(counting)).toEqual([undefined, undefined, undefined, undefined])
  expect(isReached()).toBe(true)
})

test('announced failures are counted after those that other processes have counted', async () => {
  const { limit, fail, isReached, pending } = started()
  const counting = fail()
  const announced = limit.announce('alice')
  expect(isReached()).toBe(false)
  // Two failures of other processes, this one, and the announced one.
  pending[0]?.resolve(3)
  await counting
  expect(isReached()).toBe(true)
  announced.withdraw()
  expect(isReached()).toBe(false)
})

test('counts that arrive in another order do not count twice', async () => {
  const { fail, isReached, pending } = started()
  const counting = [fail(), fail(), fail()]
  for (const [index, count] of [3, 2, 1].entries()) {
    pending[index]?.resolve(count)
    await counting[index]
    expect(isReached()).toBe(false)
  }
})

test('failures that could not be counted use up the limit, in addition to those that were', async () => {
  const { fail, isReached, pending } = started()
  for (let time = 0; time < 2; time += 1) {
    const counting = fail()
    pending[time]?.reject(new Error('connection lost'))
    await expect(counting).rejects.toMatchObject({ code: 'temporarily_unavailable' })
  }
  for (const count of [1, 2]) {
    expect(isReached()).toBe(false)
    const counting = fail()
    pending[count + 1]?.resolve(count)
    expect(await counting).toBeUndefined()
  }
  expect(isReached()).toBe(true)
})

test('a failure that could not be counted does not lift the limit', async () => {
  const { fail, isReached, pending } = started()
  const counting = [fail(), fail()]
  pending[1]?.resolve(4)
  await counting[1]
  pending[0]?.reject(new Error('connection lost'))
  await expect(counting[0]).rejects.toMatchObject({ code: 'temporarily_unavailable' })
  expect(isReached()).toBe(true)
})

test('the failure that reaches the limit is admitted, and later ones have to wait; one event reports it', async () => {
  const { fail, isReached, pending, reached } = started()
  const counting = [fail(), fail(), fail()]
  for (const [index, count] of [4, 5, 6].entries()) pending[index]?.resolve(count)
  expect(await Promise.all(counting)).toEqual([undefined, 60, 60])
  expect(isReached()).toBe(true)
  expect(reached()).toBe(1)
})
