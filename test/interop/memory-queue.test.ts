// The memory driver finds what has ended by a queue. The queue must keep the order, and must not grow with how often a key is written: a busy key would fill the memory.
import { memoryDriver } from '@grantry/storage-drivers/memory'
import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createExpiryQueue, type ExpiryQueue } from '../../packages/storage-drivers/src/expiry-queue.ts'

const made = vi.hoisted(() => [] as { readonly size: number }[])

vi.mock('../../packages/storage-drivers/src/expiry-queue.ts', async (original) => {
  const real = await original<typeof import('../../packages/storage-drivers/src/expiry-queue.ts')>()
  return {
    createExpiryQueue(): ExpiryQueue {
      const queue = real.createExpiryQueue()
      made.push(queue)
      return queue
    },
  }
})

afterEach(() => {
  vi.useRealTimers()
})

type Step = { readonly add: number } | { readonly take: number } | 'clear'

const second = fc.integer({ min: -5, max: 40 })
const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: fc.record({ add: second }), weight: 12 },
  { arbitrary: fc.record({ take: second }), weight: 8 },
  { arbitrary: fc.constant<Step>('clear'), weight: 1 },
)

describe('the queue of ends', () => {
  test('does what a sorted list does', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const queue = createExpiryQueue()
        let model: { key: string; second: number }[] = []
        for (const [index, next] of steps.entries()) {
          if (next === 'clear') {
            queue.clear()
            model = []
          } else if ('add' in next) {
            // Every third key is one that was there before.
            const key = `key ${index % 3 === 0 ? 0 : index}`
            queue.add(key, next.add)
            model.push({ key, second: next.add })
            model.sort((one, other) => one.second - other.second)
          } else {
            const key = queue.take(next.take)
            const first = model[0]?.second
            const due = first !== undefined && first < next.take
            expect(key !== undefined).toBe(due)
            if (due) {
              // Which of those that end in the same second comes first does not matter.
              const place = model.findIndex((item) => item.key === key && item.second === first)
              expect(place).toBeGreaterThanOrEqual(0)
              model.splice(place, 1)
            }
          }
          expect(queue.size).toBe(model.length)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('gives every key back, in the order of the ends', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 500 }), (ends) => {
        const queue = createExpiryQueue()
        for (const [index, end] of ends.entries()) queue.add(`${index}`, end)
        const taken = ends.map(() => ends[Number(queue.take(Number.POSITIVE_INFINITY))])
        expect(taken).toEqual([...ends].sort((one, other) => one - other))
        expect(queue.take(Number.POSITIVE_INFINITY)).toBeUndefined()
        expect(queue.size).toBe(0)
      }),
    )
  })

  test('does not give a key back in the second in which it ends', () => {
    const queue = createExpiryQueue()
    queue.add('key', 10)
    expect(queue.take(10)).toBeUndefined()
    expect(queue.take(11)).toBe('key')
  })
})

describe('the memory driver', () => {
  const writes = 50_000

  /** A driver and the largest size that its queue has had after any write. */
  function watched() {
    vi.useFakeTimers({ now: 1_800_000_000_000, toFake: ['Date'] })
    const driver = memoryDriver()
    const queue = made.at(-1)
    if (queue === undefined) throw new Error('the driver made no queue')
    return { driver, queue }
  }

  test.each<[string, (index: number) => number]>([
    ['the same ttl', () => 600],
    ['a growing ttl', (index) => 600 + index],
    ['a ttl that goes to and fro', (index) => 600 + (index % 2)],
  ])('keeps its queue small when one key is written again and again with %s', (_, ttl) => {
    const { driver, queue } = watched()
    let largest = 0
    for (let index = 0; index < writes; index += 1) {
      driver.setItem('key', `${index}`, { ttl: ttl(index) })
      largest = Math.max(largest, queue.size)
    }
    expect(largest).toBeLessThan(2000)
    expect(driver.getItem('key')).toBe(`${writes - 1}`)
    expect(driver.getInstance().size).toBe(1)
  })

  test('keeps its queue small when keys are written and removed', () => {
    const { driver, queue } = watched()
    let largest = 0
    for (let index = 0; index < writes; index += 1) {
      expect(driver.insertItem(`key ${index}`, 'x', { ttl: 600 + (index % 1000) })).toBe(true)
      driver.removeItem(`key ${index}`)
      largest = Math.max(largest, queue.size)
    }
    expect(largest).toBeLessThan(2000)
    expect(driver.getInstance().size).toBe(0)
  })

  test('still drops every item that has ended, also one that was queued anew', () => {
    const { driver, queue } = watched()
    for (let index = 0; index < 100; index += 1) driver.setItem(`kept ${index}`, 'x', { ttl: 300 })
    for (let index = 0; index < 5000; index += 1) driver.setItem('busy', 'x', { ttl: 600 + index })
    vi.setSystemTime(1_800_000_000_000 + 302_000)
    for (let index = 0; index < 1000; index += 1) driver.setItem('busy', 'x', { ttl: 6000 })
    expect([...driver.getInstance().keys()]).toEqual(['busy'])
    vi.setSystemTime(1_800_000_000_000 + 6_400_000)
    for (let index = 0; index < 1000; index += 1) driver.setItem('last', 'x', { ttl: 60 })
    expect([...driver.getInstance().keys()]).toEqual(['last'])
    expect(queue.size).toBe(1)
  })

  test('does not drop an item whose end was put off', () => {
    const { driver } = watched()
    driver.setItem('key', 'first', { ttl: 60 })
    driver.setItem('key', 'second', { ttl: 600 })
    vi.setSystemTime(1_800_000_000_000 + 120_000)
    for (let index = 0; index < 100; index += 1) driver.setItem(`other ${index}`, 'x', { ttl: 60 })
    expect(driver.getItem('key')).toBe('second')
  })
})
