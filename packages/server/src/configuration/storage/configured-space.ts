import { storageSpace } from '@grantry/core/tenants'
import type { ConfiguredStorage } from './configured-storage.ts'

/** The part of the storage that a configuration uses, by its member `storage`. */
const spaces = new WeakMap<object, string>()

/** Returns the member `storage` of a configuration that uses a part of the storage. */
export function storageIn<T extends object>(storage: T, space: string): T {
  const copy = { ...storage }
  spaces.set(copy, space)
  return copy
}

/** Returns the part of an open storage that a configuration uses. */
export function inItsSpace(storage: object, configured: ConfiguredStorage): ConfiguredStorage {
  const space = spaces.get(storage)
  if (space === undefined) return configured
  const { driver } = configured
  return { ...configured, driver: { ...storageSpace(driver, space), dispose: () => driver.dispose?.() } }
}
