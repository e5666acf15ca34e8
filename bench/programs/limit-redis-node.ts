// The minimal server on Redis, with the fewest commands: a redemption takes two trips.
import { Redis } from 'ioredis'
import type { Item } from './limit-parts.ts'
import { serveLimit } from './limit-store.ts'

const spentMarker = JSON.stringify({ spent: true, exp: Number.MAX_SAFE_INTEGER })

serveLimit((url) => {
  const redis = new Redis(url, { enableAutoPipelining: true })
  const put = (...items: readonly Item[]): Promise<unknown> =>
    Promise.all(items.map(({ key, value, lifetime }) => redis.set(key, value, 'EX', lifetime)))
  return {
    read: (key) => redis.get(key),
    put,
    // Replaces the record by a marker and returns it, in one command: of concurrent requests, one gets the record.
    redeem: async (key, use) => put(...use(await redis.set(key, spentMarker, 'KEEPTTL', 'XX', 'GET'))),
  }
})
