import type { AtomicDriver } from '@grantry/core'

/**
 * Returns the driver for several providers, one after the other: none of them closes it. The members of a driver can be
 * inherited or frozen, so it is the prototype.
 */
export const sharedDriver = (driver: AtomicDriver): AtomicDriver =>
  Object.create(driver, { dispose: { value: undefined } })
