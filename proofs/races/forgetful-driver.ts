import type { AtomicDriver } from '@grantry/core'
import type { MemoryDriver } from '@grantry/storage-drivers/memory'
import { pause } from '../../test/support/pause.ts'

/** Milliseconds that an insert waits for another one of the same key: not all keys have a second one. */
const longestWait = 1000

/**
 * Does what plain key-value stores do: reads, then writes. Of two inserts of one key, both read before the first one
 * writes. Behaves correctly for the probe at start, which would reject it.
 */
export function forgetfulDriver(driver: MemoryDriver): AtomicDriver {
  const waiting = new Map<string, () => void>()

  /** Resolves when another insert of this key has read, too. */
  async function otherInsert(key: string): Promise<void> {
    const write = waiting.get(key)
    if (write !== undefined) {
      waiting.delete(key)
      write()
      return
    }
    const met = new Promise<void>((resolve) => waiting.set(key, resolve))
    await Promise.race([met, pause(longestWait)])
    waiting.delete(key)
  }

  return {
    ...driver,
    name: 'forgetful',
    commit: undefined,
    async insertItem(key, value, options) {
      if (key.startsWith('probe:')) return driver.insertItem(key, value, options)
      if (driver.hasItem(key)) return false
      await otherInsert(key)
      driver.setItem(key, value, options)
      return true
    },
  }
}
