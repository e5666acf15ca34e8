import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createArrivalOrder } from '../../packages/core/src/credentials/arrival-order.ts'

// A login that hangs must hold up later ones of the same user for a bounded time only, and those are then refused, not let through.
beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('who comes later waits for those before, and hears that they ended in time', async () => {
  const order = createArrivalOrder(10_000)
  const first = order.begin('alice')
  const second = order.begin('alice')
  let heard: boolean | undefined
  const waiting = second.earlier.then((inTime) => {
    heard = inTime
  })
  await vi.advanceTimersByTimeAsync(9_999)
  expect(heard).toBeUndefined()
  first.end()
  await waiting
  expect(heard).toBe(true)
})

test('one that hangs is waited for no longer than the limit, and is told as late', async () => {
  const order = createArrivalOrder(10_000)
  order.begin('alice')
  const second = order.begin('alice')
  const third = order.begin('alice')
  second.end()
  await vi.advanceTimersByTimeAsync(10_000)
  expect(await second.earlier).toBe(false)
  expect(await third.earlier).toBe(false)
  third.end()
  await vi.advanceTimersByTimeAsync(0)
  expect(await order.begin('alice').earlier).toBe(true)
})

test('another name waits for nobody', async () => {
  const order = createArrivalOrder(10_000)
  order.begin('alice')
  expect(await order.begin('bob').earlier).toBe(true)
})
