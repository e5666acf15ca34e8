import type { AtomicDriver } from '@grantry/core'
import type { MemoryDriver } from '@grantry/storage-drivers/memory'
import { pause } from '../../test/support/pause.ts'

/**
 * Does what plain key-value stores do: reads, then writes. Behaves correctly for the probe at start, which would
 * reject it.
 */
export function forgetfulDriver(driver: MemoryDriver): AtomicDriver {
  return {
    ...driver,
    name: 'forgetful',
    commit: undefined,
    async insertItem(key, value, options) {
      if (key.startsWith('probe:')) return driver.insertItem(key, value, options)
      if (driver.hasItem(key)) return false
      await pause(30)
      driver.setItem(key, value, options)
      return true
    },
  }
}
