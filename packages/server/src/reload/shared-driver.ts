import type { AtomicDriver } from '@grantry/core'

/**
 * Returns the driver for several providers, one after the other: none of them closes it. The driver is the prototype of
 * the result, because its members can be inherited or frozen.
 */
export const sharedDriver = (driver: AtomicDriver): AtomicDriver =>
  Object.create(driver, { dispose: { value: undefined } })
