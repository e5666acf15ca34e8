import type { AtomicDriver, DriverChanges } from '@grantry/core'

export type Operation =
  | 'getItem'
  | 'getItems'
  | 'setItem'
  | 'removeItem'
  | 'insertItem'
  | 'incrementItem'
  | 'commit'
  | 'replaceItem'
  | 'listKeys'

/**
 * Wraps an operation: it can delay or skip it, or withhold its result. `key` is the first one of several: in a commit
 * that of a marker, if it creates one.
 */
export type Interceptor = <T>(act: () => Promise<T>, operation: Operation, key: string) => Promise<T>

export const keysOf = ({ create, put, remove }: DriverChanges): readonly string[] => [
  ...create.map(({ key }) => key),
  ...put.map(({ key }) => key),
  ...remove,
]

/**
 * Returns the driver with a wrapper around each operation, without `open` and `dispose`: the caller manages the
 * original.
 */
export function interceptOperations(driver: AtomicDriver, around: Interceptor): AtomicDriver {
  const { commit, getItems, listKeys } = driver
  return {
    name: driver.name ?? 'unnamed',
    getItem: (key) => around(async () => driver.getItem(key), 'getItem', key),
    ...(getItems !== undefined && {
      getItems: (items) => around(async () => getItems.call(driver, items), 'getItems', items[0]?.key ?? ''),
    }),
    setItem: (key, value, options) => around(async () => driver.setItem(key, value, options), 'setItem', key),
    removeItem: (key, options) => around(async () => driver.removeItem(key, options), 'removeItem', key),
    insertItem: (key, value, options) => around(async () => driver.insertItem(key, value, options), 'insertItem', key),
    incrementItem: (key, options) => around(async () => driver.incrementItem(key, options), 'incrementItem', key),
    replaceItem: (key, change) => around(async () => driver.replaceItem(key, change), 'replaceItem', key),
    ...(listKeys !== undefined && {
      listKeys: (base, page) => around(async () => listKeys.call(driver, base, page), 'listKeys', base),
    }),
    ...(commit !== undefined && {
      commit: (changes) => around(async () => commit(changes), 'commit', keysOf(changes)[0] ?? ''),
    }),
  }
}
