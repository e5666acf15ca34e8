import type { AtomicDriver } from '@grantry/core'
import type { Item } from './item.ts'

/** Stores each item in its own Durable Object. */
export function durableObjectDriver(items: DurableObjectNamespace<Item>): AtomicDriver {
  // A stub belongs to the request that created it, so create a new one each time.
  const item = (key: string) => items.getByName(key)
  return {
    name: 'durable-object',
    getItem: (key) => item(key).read(),
    setItem: (key, value, { ttl }) => item(key).write(value, ttl),
    insertItem: (key, value, { ttl }) => item(key).insert(value, ttl),
    incrementItem: (key, { ttl }) => item(key).increment(ttl),
    replaceItem: (key, { from, to, ttl }) => item(key).replace(from, to, ttl),
    removeItem: (key) => item(key).remove(),
  }
}
