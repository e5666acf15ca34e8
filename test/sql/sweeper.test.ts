// The timer that removes expired rows: its pace, and that errors do not end it.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createSweeper, type SweepStep } from '../../packages/storage-drivers/src/sql/sweeper.ts'

describe('the sweeper', () => {
  const nothing: SweepStep = { removed: 0, age: 0, isFull: false }

  beforeEach(() => {
    vi.useFakeTimers()
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })

  /** Returns the seconds at which steps ran, of which each removes as many rows as are given. */
  async function momentsOf(removed: readonly number[], seconds: number): Promise<readonly number[]> {
    const left = [...removed]
    const moments: number[] = []
    const begin = Date.now()
    const sweeper = createSweeper({
      where: 'the test',
      removeExpired(): SweepStep {
        moments.push((Date.now() - begin) / 1000)
        const [count = 0] = left.splice(0, 1)
        return { removed: count, age: 5, isFull: count >= 1000 }
      },
    })
    sweeper.start()
    await vi.advanceTimersByTimeAsync(seconds * 1000)
    await sweeper.stop()
    const count = moments.length
    await vi.advanceTimersByTimeAsync(600_000)
    expect(moments).toHaveLength(count)
    return moments
  }

  test('becomes rare without expired rows, and ends with stop()', async () => {
    expect(await momentsOf([], 200)).toEqual([1, 3, 7, 15, 31, 63, 123, 183])
  })

  test('continues soon after a full step, and after a second while there are some', async () => {
    expect(await momentsOf([1000, 1000, 7, 1], 3.1)).toEqual([1, 1.01, 1.02, 2.02, 3.02])
  })

  test('counts the rows, and reports how old the oldest was', async () => {
    const steps: SweepStep[] = [
      { removed: 1000, age: 90, isFull: true },
      { removed: 3, age: 2, isFull: false },
    ]
    const sweeper = createSweeper({ where: 'the test', removeExpired: () => steps.shift() ?? nothing })
    sweeper.start()
    await vi.advanceTimersByTimeAsync(1000)
    expect(sweeper.state()).toEqual({ removed: 1000, age: 90, isBehind: true })
    await vi.advanceTimersByTimeAsync(10)
    expect(sweeper.state()).toEqual({ removed: 1003, age: 2, isBehind: false })
    await sweeper.stop()
  })

  test('continues after an error, and warns once for each code', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockReturnValue()
    const codes = ['53100', '53100', '57P03']
    const sweeper = createSweeper({
      where: 'the test',
      removeExpired() {
        throw Object.assign(new Error('no space'), { code: codes.shift() })
      },
    })
    sweeper.start()
    await vi.advanceTimersByTimeAsync(121_000)
    await sweeper.stop()
    expect(warned.mock.calls.map(([, options]) => (options as { code: string }).code)).toEqual(['53100', '57P03'])
    expect(String(warned.mock.calls[0]?.[0])).toContain('Cannot remove expired items in the test')
  })

  test('waits for the running step when it is stopped', async () => {
    let end = (): void => {}
    const running = new Promise<void>((resolve) => {
      end = resolve
    })
    const sweeper = createSweeper({
      where: 'the test',
      removeExpired: () => running.then(() => nothing),
    })
    sweeper.start()
    await vi.advanceTimersByTimeAsync(1000)
    let isStopped = false
    const stopping = sweeper.stop().then(() => {
      isStopped = true
    })
    await vi.advanceTimersByTimeAsync(1000)
    expect(isStopped).toBe(false)
    end()
    await stopping
  })
})
