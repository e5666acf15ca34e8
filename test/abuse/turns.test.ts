import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createTurns } from '../../packages/core/src/abuse/turns.ts'

// A login that hangs must delay later ones of the same user for a bounded time only, and those are then refused, not
// let through.
beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('runs the given number concurrently, and the next when one has ended, in order', async () => {
  const turns = createTurns(2, 10_000)
  const went: number[] = []
  for (const task of [1, 2, 3, 4]) void turns.begin('alice').then((turn) => turn && went.push(task))
  await vi.advanceTimersByTimeAsync(9_999)
  expect(went).toEqual([1, 2])
  turns.end('alice')
  await vi.advanceTimersByTimeAsync(0)
  expect(went).toEqual([1, 2, 3])
  turns.end('alice')
  await vi.advanceTimersByTimeAsync(0)
  expect(went).toEqual([1, 2, 3, 4])
})

test('rejects a turn that waits longer than the limit, and later turns do not wait for it', async () => {
  const turns = createTurns(1, 10_000)
  await turns.begin('alice')
  const late = turns.begin('alice')
  await vi.advanceTimersByTimeAsync(5_000)
  const later = turns.begin('alice')
  await vi.advanceTimersByTimeAsync(5_000)
  expect(await late).toBe(false)
  turns.end('alice')
  expect(await later).toBe(true)
})

test('another name does not wait', async () => {
  const turns = createTurns(1, 10_000)
  await turns.begin('alice')
  expect(await turns.begin('bob')).toBe(true)
})

test('an idle name starts anew', async () => {
  const turns = createTurns(1, 10_000)
  for (let round = 0; round < 3; round += 1) {
    expect(await turns.begin('alice')).toBe(true)
    turns.end('alice')
  }
})
