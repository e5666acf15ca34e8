import type { AtomicDriver } from '@grantry/core'

/** Milliseconds, before and after each operation. */
const delays = [1, 3, 0, 2, 4, 1, 0] as const

/** Runs each operation of a driver in `run`. */
function around(driver: AtomicDriver, run: <T>(act: () => T) => Promise<Awaited<T>>): AtomicDriver {
  const { commit } = driver
  return {
    name: driver.name,
    getItem: (key) => run(() => driver.getItem(key)),
    setItem: (key, value, options) => run(() => driver.setItem(key, value, options)),
    removeItem: (key, options) => run(() => driver.removeItem(key, options)),
    insertItem: (key, value, options) => run(() => driver.insertItem(key, value, options)),
    incrementItem: (key, options) => run(() => driver.incrementItem(key, options)),
    replaceItem: (key, change) => run(() => driver.replaceItem(key, change)),
    ...(commit !== undefined && { commit: (changes) => run(() => commit(changes)) }),
  }
}

/** The driver behind a network: a driver that responds in the same tick hides every race. */
export function withLatency(driver: AtomicDriver): AtomicDriver {
  let count = 0
  const wait = (): Promise<void> => {
    count += 1
    return new Promise((resolve) => setTimeout(resolve, delays[count % delays.length]))
  }
  return around(driver, async <T>(act: () => T): Promise<Awaited<T>> => {
    await wait()
    const result = await act()
    await wait()
    return result
  })
}

/** The driver without `commit()`, so that the core performs the steps of a commit in order. */
export function inOrder({ commit: _, ...driver }: AtomicDriver): AtomicDriver {
  return driver
}

/** A driver of which one operation fails. */
export interface FailingDriver {
  readonly driver: AtomicDriver
  /**
   * Lets one of the next operations fail: the first one has number 1. `after`: the operation takes effect, but its
   * result is lost.
   */
  fail(number: number, moment: 'before' | 'after'): void
  /** Whether the operation has failed. No operation fails from now on. */
  disarm(): boolean
}

export function createFailingDriver(driver: AtomicDriver): FailingDriver {
  let remaining = 0
  let moment: 'before' | 'after' = 'before'
  let hasFailed = false
  const lost = (): Error => {
    hasFailed = true
    return new Error('The connection to the storage was lost')
  }
  const failing = around(driver, async <T>(act: () => T): Promise<Awaited<T>> => {
    const fails = remaining === 1
    if (remaining > 0) remaining -= 1
    if (fails && moment === 'before') throw lost()
    const result = await act()
    if (fails) throw lost()
    return result
  })
  return {
    driver: failing,
    fail(number, when) {
      remaining = number
      moment = when
      hasFailed = false
    },
    disarm() {
      remaining = 0
      return hasFailed
    },
  }
}
