import type { AtomicDriver } from '@grantry/core'

/** A driver and its description for the operator, without passwords. */
export interface ConfiguredStorage {
  readonly driver: AtomicDriver
  readonly description: string
}
