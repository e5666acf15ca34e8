import type { MaybePromise } from '../types.ts'

/** An item to write. */
export interface DriverItem {
  readonly key: string
  readonly value: string
  /** Seconds, as for `AtomicDriver`. */
  readonly ttl: number
}

/** The changes of one `commit()`. No key occurs twice. */
export interface DriverChanges {
  /** Items that must not exist yet. */
  readonly create: readonly DriverItem[]
  /** Items that are written whether they exist or not. */
  readonly put: readonly DriverItem[]
  /** Keys of items that are removed if they exist. */
  readonly remove: readonly string[]
}

/**
 * An unstorage driver with three atomic operations, which unstorage does not define: an insert, for single-use
 * credentials; a counter, for limits on guessing; and a replacement on condition, for lists that several requests
 * change.
 *
 * A `ttl` is the time in seconds until the item expires. The core passes whole numbers, at least 1. A driver accepts
 * fractions, which it may round, and never stores an item with 0 or less.
 *
 * @see docs/guides/custom-driver.md
 */
export interface AtomicDriver {
  readonly name?: string | undefined
  /**
   * Called once, before any other method. Rejects if the storage is unsuitable, with a sentence that says what is wrong
   * and how to fix it.
   */
  readonly open?: (() => MaybePromise<void>) | undefined
  /** Returns the value of the item; `null` or `undefined` if it is absent or has expired. */
  getItem(key: string): MaybePromise<unknown>
  /**
   * Reads several items in one trip, as in unstorage. No key occurs twice. Returns one entry for each key, in any order,
   * with the value that `getItem` returns for it: an absent item has an entry too. If an item cannot be read, rejects.
   *
   * Optional: without it, the core calls `getItem` for each key at the same time.
   */
  readonly getItems?:
    | ((items: { key: string }[]) => MaybePromise<readonly { readonly key: string; readonly value: unknown }[]>)
    | undefined
  /**
   * Sets the item. Must perform the write at most once, even if the reply is lost: a write that is performed again can
   * undo a later revocation.
   */
  setItem(key: string, value: string, options: { ttl: number }): MaybePromise<void>
  /** Removes the item, or the counter, if it exists. */
  removeItem(key: string, options: object): MaybePromise<void>
  /**
   * Creates the item only if it is absent. Returns `true` if this call created it. Must be atomic across all processes
   * that share the storage. When it returns, with either result, the stored item must be as durable as the storage
   * allows.
   */
  insertItem(key: string, value: string, options: { ttl: number }): MaybePromise<boolean>
  /**
   * Increments a counter and returns the new value: 1 if it did not exist or had expired. Must be atomic across all
   * processes that share the storage: no two calls return the same value. A counter may be lost in a crash.
   *
   * @param options `ttl`: counts from the creation of the counter; later calls do not extend it
   */
  incrementItem(key: string, options: { ttl: number }): MaybePromise<number>
  /**
   * Writes all changes or none. Returns `true` if none of the keys in `create` existed; otherwise it writes nothing and
   * returns those that did. Must be atomic across all processes that share the storage, and in a crash. When it
   * returns, with either result, the stored items must be as durable as the storage allows.
   *
   * Optional: without it, the core performs the changes one by one. Single use is the same, but a request that loses a
   * race, or a crash, can leave records that no credential leads to.
   */
  readonly commit?: ((changes: DriverChanges) => MaybePromise<true | readonly string[]>) | undefined
  /**
   * Replaces the value of an item if it is `from`, character by character. Returns `true` if this call replaced it. Must
   * be atomic across all processes that share the storage, and must perform the write at most once. When it returns
   * `true`, the item must be as durable as the storage allows.
   *
   * @param change `ttl`: the item expires after it, whether it would have expired earlier or later
   */
  replaceItem(key: string, change: { from: string; to: string; ttl: number }): MaybePromise<boolean>
  /**
   * Optional: only the entries that administrators change need it. See `openEntries()`.
   *
   * Returns up to `limit` keys that start with `base` and come after `after`, in the order of their characters. Called
   * only with a `base` that starts with `entry:`; keys of entries are printable ASCII, and end with no hash. Keys of
   * items that were removed may be among them. A key whose item exists from the beginning to the end of the call must be.
   */
  readonly listKeys?:
    | ((base: string, page: { readonly after: string; readonly limit: number }) => MaybePromise<readonly string[]>)
    | undefined
  /** Called when the provider is closed, to release connections. */
  readonly dispose?: (() => MaybePromise<void>) | undefined
}
