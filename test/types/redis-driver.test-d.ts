import type { AtomicDriver } from '@grantry/core'
import { type RedisDriverOptions, redisDriver } from '@grantry/storage-drivers/redis'
import type { Cluster, Redis } from 'ioredis'
import type { Driver } from 'unstorage'
import { expectTypeOf, test } from 'vitest'

// The type is written out, so that users do not type-check all of unstorage. It must still be assignable to theirs.
test('the Redis driver is an unstorage driver that can insert atomically', () => {
  expectTypeOf(redisDriver({ url: 'redis://127.0.0.1' })).toExtend<Driver>()
  expectTypeOf(redisDriver({ url: 'redis://127.0.0.1' })).toExtend<AtomicDriver>()
})

test('a location is a URL, a cluster, Sentinels with a name, or a client', () => {
  expectTypeOf<{ url: string }>().toExtend<RedisDriverOptions>()
  expectTypeOf<{ cluster: string[]; connection: { password: string } }>().toExtend<RedisDriverOptions>()
  expectTypeOf<{ sentinels: { host: string; port: number }[]; name: string }>().toExtend<RedisDriverOptions>()
  expectTypeOf<{ client: Redis }>().toExtend<RedisDriverOptions>()
  expectTypeOf<{ client: Cluster; waitReplicas: number }>().toExtend<RedisDriverOptions>()
  // Without the name it is unclear which of their groups is meant.
  expectTypeOf<{ sentinels: { host: string; port: number }[] }>().not.toExtend<RedisDriverOptions>()
  expectTypeOf<{ prefix: string }>().not.toExtend<RedisDriverOptions>()
})

test('settings that make the connections fail fast cannot be overridden', () => {
  expectTypeOf<{ url: string; connection: { maxRetriesPerRequest: number } }>().not.toExtend<RedisDriverOptions>()
  // @ts-expect-error a command must not wait for a connection
  redisDriver({ url: 'redis://127.0.0.1', connection: { enableOfflineQueue: true } })
})

test('the Redis driver counts', () => {
  expectTypeOf(redisDriver({ url: 'redis://127.0.0.1' }).incrementItem).parameters.toEqualTypeOf<
    [string, { ttl: number }]
  >()
  expectTypeOf(redisDriver({ url: 'redis://127.0.0.1' }).incrementItem).returns.toEqualTypeOf<Promise<number>>()
})
