import type { AtomicDriver } from '@grantry/core'
import { pause } from '../../test/support/pause.ts'

export interface NarrowStoreOptions {
  /** Maximum number of concurrent operations; further ones are queued. */
  readonly connections: number
  /** Duration of each operation in milliseconds. */
  readonly latency: number
}

/**
 * Simulates a driver with a connection pool to a distant database: limited operations per second, the rest is queued.
 */
export function narrowStore(driver: AtomicDriver, { connections, latency }: NarrowStoreOptions): AtomicDriver {
  const waiting: (() => void)[] = []
  let busy = 0
  async function through<T>(act: () => T): Promise<Awaited<T>> {
    if (busy >= connections) await new Promise<void>((resolve) => waiting.push(resolve))
    else busy += 1
    try {
      await pause(latency)
      return await act()
    } finally {
      const next = waiting.shift()
      if (next === undefined) busy -= 1
      else next()
    }
  }
  const { commit, getItems } = driver
  return {
    name: `narrow ${driver.name}`,
    getItem: (key) => through(() => driver.getItem(key)),
    setItem: (key, value, options) => through(() => driver.setItem?.(key, value, options)),
    removeItem: (key, options) => through(() => driver.removeItem?.(key, options)),
    insertItem: (key, value, options) => through(() => driver.insertItem(key, value, options)),
    incrementItem: (key, options) => through(() => driver.incrementItem(key, options)),
    replaceItem: (key, change) => through(() => driver.replaceItem(key, change)),
    ...(getItems !== undefined && { getItems: (items) => through(() => getItems(items)) }),
    ...(commit !== undefined && { commit: (changes) => through(() => commit(changes)) }),
  }
}
