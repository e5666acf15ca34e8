import type { AtomicDriver } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { observedDriver } from '../observability/observed-driver.ts'

const isOfKeyRing = (key: string): boolean => key.startsWith('keys:')

/**
 * Returns the driver, whose changes of the key ring are kept in memory: a check creates and rotates no keys, and leaves
 * an empty storage empty, so that it can still become the target of a copy. All other items are written, because they
 * show whether the storage works.
 */
export function withoutKeyWrites(driver: AtomicDriver): AtomicDriver {
  const memory = memoryDriver()
  const stored = observedDriver(driver, () => () => {})
  const getItem: AtomicDriver['getItem'] = async (key) =>
    (isOfKeyRing(key) ? memory.getItem(key) : null) ?? stored.getItem(key)
  return {
    ...stored,
    getItem,
    ...(driver.getItems !== undefined && {
      getItems: async (items) => Promise.all(items.map(async ({ key }) => ({ key, value: await getItem(key) }))),
    }),
    async insertItem(key, value, options) {
      if (!isOfKeyRing(key)) return stored.insertItem(key, value, options)
      return (await getItem(key)) == null && memory.insertItem(key, value, options)
    },
    replaceItem: (key, change) => (isOfKeyRing(key) ? memory : stored).replaceItem(key, change),
    setItem: (key, value, options) => (isOfKeyRing(key) ? memory : stored).setItem(key, value, options),
  }
}
