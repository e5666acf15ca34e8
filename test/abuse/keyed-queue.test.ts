import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createKeyedQueue } from '../../packages/core/src/abuse/keyed-queue.ts'

// A login that hangs must delay later ones of the same user for a bounded time only, and those are then refused, not
// let through.
beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('runs the given number concurrently, and the next when one has ended, in order', async () => {
  const queue = createKeyedQueue(2, 10_000)
  const started: number[] = []
  for (const task of [1, 2, 3, 4])
    void Promise.resolve(queue.enter('alice')).then((admitted) => admitted && started.push(task))
  await vi.advanceTimersByTimeAsync(9_999)
  expect(started).toEqual([1, 2])
  queue.leave('alice')
  await vi.advanceTimersByTimeAsync(0)
  expect(started).toEqual([1, 2, 3])
  queue.leave('alice')
  await vi.advanceTimersByTimeAsync(0)
  expect(started).toEqual([1, 2, 3, 4])
})

test('rejects a task that waits longer than the limit, and later tasks do not wait for it', async () => {
  const queue = createKeyedQueue(1, 10_000)
  await queue.enter('alice')
  const late = queue.enter('alice')
  await vi.advanceTimersByTimeAsync(5_000)
  const later = queue.enter('alice')
  await vi.advanceTimersByTimeAsync(5_000)
  expect(await late).toBe(false)
  queue.leave('alice')
  expect(await later).toBe(true)
})

test('tasks with another key do not wait', async () => {
  const queue = createKeyedQueue(1, 10_000)
  await queue.enter('alice')
  expect(await queue.enter('bob')).toBe(true)
})

test('a key without tasks starts anew', async () => {
  const queue = createKeyedQueue(1, 10_000)
  for (let round = 0; round < 3; round += 1) {
    expect(await queue.enter('alice')).toBe(true)
    queue.leave('alice')
  }
})
