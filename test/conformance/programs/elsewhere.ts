// Module for child processes of the conformance kit: its driver opens another storage than the rest and keeps the
// process alive.
import type { AtomicDriver } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'

export function open(): AtomicDriver {
  setInterval(() => {}, 1000)
  return memoryDriver()
}
