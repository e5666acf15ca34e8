import type { RedisClient } from './client-factory.ts'
import type { ItemKeys } from './item-key.ts'
import type { Writer } from './writer.ts'

/** Replaces the value of an item, and its end, on a condition. */
export const replaceScript = `if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('set', KEYS[1], ARGV[2], unpack(ARGV, 3))
return 1`

/** Begins the keys of the entries that administrators change. */
const entryKey = /^entry:/

/**
 * An ordered set with the keys of entries, because Redis cannot list keys in order. A key is added before its item is
 * written, and stays: a removal could meet a new item with the same key.
 */
export function createKeyIndex(
  write: Writer,
  read: <T>(operate: (client: RedisClient) => Promise<T>) => Promise<T>,
  { index }: Pick<ItemKeys, 'index'>,
) {
  return {
    /** Adds the key to the index if it is that of an entry. */
    async indexed(key: string): Promise<void> {
      if (entryKey.test(key)) await write(index, ['zadd', index, 0, key])
    },
    listKeys: (base: string, { after, limit }: { readonly after: string; readonly limit: number }): Promise<string[]> =>
      // Keys have no character after the tilde.
      read((client) =>
        client.zrangebylex(index, after < base ? `[${base}` : `(${after}`, `(${base}\x7F`, 'LIMIT', 0, limit),
      ),
  }
}
