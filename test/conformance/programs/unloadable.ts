// Module for child processes of the conformance kit whose open() throws.
import type { AtomicDriver } from '@grantry/core'

export const open = (): AtomicDriver => {
  throw new Error('no such database: tokens')
}
