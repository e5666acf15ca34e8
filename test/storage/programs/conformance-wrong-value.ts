// What a child process of the conformance kit loads: one insert wins, and something else is there.
import type { AtomicDriver } from '@grantry/core'
import { filesystemDriver } from '@grantry/storage-drivers/filesystem'

export function open(): AtomicDriver {
  const driver = filesystemDriver({ directory: new URL(import.meta.url).searchParams.get('directory') ?? '' })
  return { ...driver, insertItem: (key, _, options) => driver.insertItem(key, '{"version":1}', options) }
}
