// Module for child processes of the conformance kit: one insert wins, but another value is stored.
import type { AtomicDriver } from '@grantry/core'
import { filesystemDriver } from '@grantry/storage-drivers/filesystem'

export function open(): AtomicDriver {
  const driver = filesystemDriver({ directory: new URL(import.meta.url).searchParams.get('directory') ?? '' })
  return { ...driver, insertItem: (key, _, options) => driver.insertItem(key, '{"version":1}', options) }
}
