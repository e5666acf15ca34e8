// What a child process of the conformance kit cannot load.
import type { AtomicDriver } from '@grantry/core'

export const open = (): AtomicDriver => {
  throw new Error('no such database: tokens')
}
