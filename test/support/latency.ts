import type { AtomicDriver } from '@grantry/core'
import { randomPause } from './pause.ts'

/**
 * The maximum delay in whole milliseconds, from 0, that every operation of a slow driver waits at random before and
 * after it acts.
 */
const longest = 10

/**
 * What the driver stores lives a hundred times as long: on a busy machine a test takes longer than the seconds of a retry
 * window, and what has expired is decided by the injected clock.
 */
const lasting = <T extends { readonly ttl?: number | undefined }>(stored: T): T =>
  stored.ttl === undefined ? stored : { ...stored, ttl: stored.ttl * 100 }

/**
 * A driver behind a network: each operation takes 0 to 10 ms, half before it acts and half after, in random order. A
 * driver that returns in the same tick hides every race.
 */
export function withLatency(driver: AtomicDriver): AtomicDriver {
  const slow = async <T>(act: () => T): Promise<Awaited<T>> => {
    await randomPause(longest)
    const result = await act()
    await randomPause(longest)
    return result
  }
  const { commit, getItems, listKeys } = driver
  return {
    name: `slow ${driver.name}`,
    getItem: (key) => slow(() => driver.getItem(key)),
    setItem: (key, value, options) => slow(() => driver.setItem?.(key, value, options && lasting(options))),
    removeItem: (key, options) => slow(() => driver.removeItem?.(key, options)),
    insertItem: (key, value, options) => slow(() => driver.insertItem(key, value, lasting(options))),
    incrementItem: (key, options) => slow(() => driver.incrementItem(key, lasting(options))),
    ...(getItems !== undefined && { getItems: (items) => slow(() => getItems(items)) }),
    replaceItem: (key, change) => slow(() => driver.replaceItem(key, lasting(change))),
    ...(listKeys !== undefined && { listKeys: (base, page) => slow(() => listKeys(base, page)) }),
    ...(commit !== undefined && {
      commit: ({ create, put, remove }) =>
        slow(() => commit({ create: create.map(lasting), put: put.map(lasting), remove })),
    }),
  }
}

/** The driver without `commit()`, so that the core performs the steps of a commit in order. */
export function inOrder({ commit: _, ...driver }: AtomicDriver): AtomicDriver {
  return driver
}

/** The driver with `getItems()`. */
export const inOneTrip = (driver: AtomicDriver): AtomicDriver => ({
  ...driver,
  getItems: async (items) => Promise.all(items.map(async ({ key }) => ({ key, value: await driver.getItem(key) }))),
})

/** A way to spend a credential. */
export interface CommitPath {
  readonly path: 'in order' | 'atomic'
  prepare(driver: AtomicDriver): AtomicDriver
}

/** For `describe.each`. */
export const commitPaths: readonly CommitPath[] = [
  { path: 'in order', prepare: inOrder },
  { path: 'atomic', prepare: (driver) => driver },
]
