import type { AtomicDriver } from '@grantry/core'

export interface NarrowStoreOptions {
  /** Operations at once; the others wait for their turn. */
  readonly connections: number
  /** Milliseconds of each operation. */
  readonly latency: number
}

/** A driver behind so many connections to a distant database: it carries so many operations a second and queues what is beyond them. */
export function narrowStore(driver: AtomicDriver, { connections, latency }: NarrowStoreOptions): AtomicDriver {
  const waiting: (() => void)[] = []
  let busy = 0
  async function through<T>(act: () => T): Promise<Awaited<T>> {
    if (busy >= connections) await new Promise<void>((resolve) => waiting.push(resolve))
    else busy += 1
    try {
      await new Promise((resolve) => setTimeout(resolve, latency))
      return await act()
    } finally {
      const next = waiting.shift()
      if (next === undefined) busy -= 1
      else next()
    }
  }
  return {
    name: `narrow ${driver.name}`,
    getItem: (key) => through(() => driver.getItem(key)),
    setItem: (key, value, options) => through(() => driver.setItem?.(key, value, options)),
    removeItem: (key, options) => through(() => driver.removeItem?.(key, options)),
    insertItem: (key, value, options) => through(() => driver.insertItem(key, value, options)),
  }
}
