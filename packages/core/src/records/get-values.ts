import { after, isThenable } from '../promises.ts'
import type { MaybePromise } from '../types.ts'
import type { AtomicDriver } from './driver.ts'

const malformed = (): TypeError =>
  new TypeError(
    'getItems() must return { key, value } once for each key; correct it, or omit it, because it is optional',
  )

/** Returns the values in the order of the keys. */
function valuesOf(keys: readonly string[], items: unknown): readonly unknown[] {
  if (!Array.isArray(items) || items.length !== keys.length) throw malformed()
  return keys.map((key, index) => {
    const item = items[index]?.key === key ? items[index] : items.find((candidate) => candidate?.key === key)
    // A marker that the driver omits may exist, so it must not count as absent.
    if (item === undefined || !('value' in item) || isThenable(item.value)) throw malformed()
    // Some unstorage drivers return errors instead of throwing them.
    if (item.value instanceof Error) throw item.value
    return item.value
  })
}

/**
 * Reads items with `getItems()`, and returns their values in the order of the keys.
 *
 * @throws TypeError when the driver does not return each item once.
 */
export const getValues = (driver: AtomicDriver, keys: readonly string[]): MaybePromise<readonly unknown[]> =>
  after<unknown, readonly unknown[]>(driver.getItems?.(keys.map((key) => ({ key }))), (items) => valuesOf(keys, items))
