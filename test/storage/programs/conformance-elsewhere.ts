// What a child process of the conformance kit loads: a driver that does not open what the others open, and keeps its process from ending.
import type { AtomicDriver } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'

export function open(): AtomicDriver {
  setInterval(() => {}, 1000)
  return memoryDriver()
}
