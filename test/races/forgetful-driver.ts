import type { AtomicDriver } from '@grantry/core'
import type { MemoryDriver } from '@grantry/storage-drivers/memory'

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 30))

/** What every plain key-value store would do: look, then write. The probe at start is spared, or it would be refused there. */
export function forgetfulDriver(driver: MemoryDriver): AtomicDriver {
  return {
    ...driver,
    name: 'forgetful',
    async insertItem(key, value, options) {
      if (key.startsWith('probe:')) return driver.insertItem(key, value, options)
      if (driver.hasItem(key)) return false
      await pause()
      driver.setItem(key, value, options)
      return true
    },
  }
}
